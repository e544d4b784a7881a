// The entry of a webhook configuration, as every webhook of an operator should have it: strict, quick, and never in the way
// of the operator itself or of an object's end.
import type { Resource } from "../kube/resource.ts";
import type { AdmissionRequest } from "./admission.ts";

export type Operation = AdmissionRequest["operation"];

/** What becomes of a request when nobody answers. Ignore is for kinds of others: they must not depend on us. */
export type FailurePolicy = "Fail" | "Ignore";

export interface WebhookOptions {
  /** Fully qualified, with two dots or more. */
  readonly name: string;
  readonly resource: Resource;
  readonly operations: readonly Operation[];
  /** Fail unless told. */
  readonly failurePolicy?: FailurePolicy;
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

interface Rule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly Operation[];
  readonly scope: "Namespaced" | "Cluster";
}

export interface WebhookEntry {
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly clientConfig: (ServiceClient | UrlClient) & { readonly caBundle?: string };
  readonly failurePolicy: FailurePolicy;
  readonly timeoutSeconds: number;
  readonly sideEffects: "None";
  readonly matchPolicy: "Equivalent";
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions: readonly MatchCondition[];
}

/** The same for validating and mutating webhooks. The authorities in `caBundle` are put in later, by the operator or by OLM. */
export function webhookEntry(options: WebhookOptions): WebhookEntry {
  const { name, resource, operations, failurePolicy = "Fail", client, operatorUsername, matchConditions = [] } = options;
  const updates = operations.includes("UPDATE") ? [notMetadataOnly] : [];
  return {
    name,
    rules: [ruleFor(resource, operations)],
    clientConfig: client,
    failurePolicy,
    timeoutSeconds: 5,
    sideEffects: "None",
    matchPolicy: "Equivalent",
    admissionReviewVersions: ["v1"],
    matchConditions: [notTheOperator(operatorUsername), ...updates, ...matchConditions],
  };
}

function ruleFor({ apiVersion, plural, namespaced }: Resource, operations: readonly Operation[]): Rule {
  const [version = "", group = ""] = apiVersion.split("/").reverse(); // the core group has no name, and `v1` is all there is
  const scope = namespaced ? "Namespaced" : "Cluster";
  return { apiGroups: [group], apiVersions: [version], resources: [plural], operations, scope };
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
