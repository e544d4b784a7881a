// The entry of a webhook configuration, as every webhook of an operator should have it: strict, quick, and never blocking the
// operator itself or the deletion of an object.
import type { Resource } from "../kube/resource.ts";
import type { AdmissionRequest } from "./admission.ts";

export type Operation = AdmissionRequest["operation"];

/** Whether a request passes when no server answers. Ignore is for kinds of others: they must not depend on us. */
export type FailurePolicy = "Fail" | "Ignore";

export interface WebhookOptions {
  /** Fully qualified, with two dots or more. */
  readonly name: string;
  readonly resource: Resource;
  readonly operations: readonly Operation[];
  /** Default: Fail. */
  readonly failurePolicy?: FailurePolicy;
  readonly client: ServiceClient | UrlClient;
  /** Requests of this user skip the webhook: `system:serviceaccount:<namespace>:<name>`. */
  readonly operatorUsername: string;
  /** Further conditions, all of which must hold for the webhook to be called. */
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

/** The same for validating and mutating webhooks. The operator or OLM fills in `caBundle` later. */
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
  const [version = "", group = ""] = apiVersion.split("/").reverse(); // the core group has no name: `v1`
  const scope = namespaced ? "Namespaced" : "Cluster";
  return { apiGroups: [group], apiVersions: [version], resources: [plural], operations, scope };
}

/** Without this, the operator's writes would need its own webhook: while the only replica starts, that would block for ever. */
function notTheOperator(username: string): MatchCondition {
  return { name: "not-the-operator", expression: `request.userInfo.username != ${JSON.stringify(username)}` };
}

/**
 * Changes of labels, owners and above all finalizers skip the webhook: garbage collection, namespace deletion and people who
 * unblock a deletion must get through while no server answers. An error in an expression refuses the request, so each field is
 * read only if it exists: `object` is null on DELETE, `oldObject` on CREATE, and a kind may have no spec.
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
