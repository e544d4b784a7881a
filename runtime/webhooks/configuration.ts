// The entry of a webhook configuration, as every webhook of an operator should have it: strict, quick, and never in the way
// of the operator itself or of an object's end.

export interface WebhookOptions {
  /** Fully qualified, with two dots or more. */
  readonly name: string;
  readonly rule: {
    readonly apiGroups: readonly string[];
    readonly apiVersions: readonly string[];
    readonly resources: readonly string[];
    readonly operations: readonly ("CREATE" | "UPDATE" | "DELETE")[];
  };
  readonly client: ServiceClient | UrlClient;
  /** Whose requests are not asked about: `system:serviceaccount:<namespace>:<name>`. */
  readonly operatorUsername: string;
  /** More conditions, all of which must hold for the webhook to be called. */
  readonly matchConditions?: readonly MatchCondition[];
}

export interface ServiceClient {
  readonly service: { readonly namespace: string; readonly name: string; readonly path: string; readonly port?: number };
}

/** For an operator that runs outside of the cluster. */
export interface UrlClient {
  readonly url: string;
}

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface WebhookEntry {
  readonly name: string;
  readonly rules: readonly WebhookOptions["rule"][];
  readonly clientConfig: (ServiceClient | UrlClient) & { readonly caBundle?: string };
  readonly failurePolicy: "Fail";
  readonly timeoutSeconds: number;
  readonly sideEffects: "None";
  readonly matchPolicy: "Equivalent";
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions: readonly MatchCondition[];
}

/** The same for validating and mutating webhooks. The authorities in `caBundle` are put in later, by the operator or by OLM. */
export function webhookEntry({ name, rule, client, operatorUsername, matchConditions = [] }: WebhookOptions): WebhookEntry {
  return {
    name,
    rules: [rule],
    clientConfig: client,
    failurePolicy: "Fail",
    timeoutSeconds: 5,
    sideEffects: "None",
    matchPolicy: "Equivalent",
    admissionReviewVersions: ["v1"],
    matchConditions: [notTheOperator(operatorUsername), notMetadataOnly, ...matchConditions],
  };
}

/** The operator's own writes would otherwise need the operator's own webhook: with one replica that is starting, for ever. */
function notTheOperator(username: string): MatchCondition {
  return { name: "not-the-operator", expression: `request.userInfo.username != ${JSON.stringify(username)}` };
}

/**
 * Labels, owners and above all finalizers change freely: garbage collection, namespace deletion and people who unblock a
 * deletion must get through while nobody serves the webhook. An error in an expression refuses the request, so each field
 * is looked at only where it is: `object` is null on DELETE, `oldObject` on CREATE, and a kind may have no spec.
 */
const notMetadataOnly: MatchCondition = {
  name: "not-metadata-only",
  expression: [
    'request.operation != "UPDATE"',
    "object == null",
    "oldObject == null",
    "has(object.spec) != has(oldObject.spec)",
    "(has(object.spec) && object.spec != oldObject.spec)",
  ].join(" || "),
};
