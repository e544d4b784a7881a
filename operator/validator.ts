// A webhook that says yes or no: of what the API server asks it, and what it answers.
import type { Backup, Restore, SampleDB } from "../controllers/kinds/sampledb-io.ts";
import type { Cached } from "../runtime/cache/cache.ts";
import type { Resource } from "../runtime/kube/resource.ts";
import type { AdmissionRequest, Validation } from "../runtime/webhooks/admission.ts";
import type { FailurePolicy, Operation } from "../runtime/webhooks/configuration.ts";

/** What the operator knows beside the request, once it runs; the manifests are made without it. */
export interface Known {
  readonly databases: Cached<SampleDB>;
  readonly backups: Cached<Backup>;
  readonly restores: Cached<Restore>;
  readonly now: () => Date;
}

export interface Validator {
  readonly resource: Resource;
  readonly path: string;
  readonly operations: readonly Operation[];
  readonly failurePolicy: FailurePolicy;
  readonly validate: (request: AdmissionRequest, known: Known) => Validation;
}

/** As kubebuilder names it. */
export function validatorPath({ apiVersion, kind }: Resource): string {
  return `/validate-${apiVersion.replace(/[./]/g, "-")}-${kind.toLowerCase()}`;
}
