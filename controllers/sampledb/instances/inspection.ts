// Asks each instance once for its version and its certificate. Patroni reloads where an instance serves an old certificate.
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { Instance } from "../../database/instance.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { versionText } from "./inspections.ts";

/** The kubelet updates a mounted Secret within a minute or two. */
const lookAgainSeconds = 60;

export const inspection: SampleDBStep = async (scope) => {
  const { observed, deps, findings } = scope;
  const current = findings.serving?.fingerprint;
  const unknown = observed.instances.filter(({ ready, uid }) => ready && deps.inspections.of(uid)?.fingerprint !== current);
  const answers = await Promise.all(unknown.map((instance) => inspect(scope, instance)));
  return answers.every((answered) => answered) ? done : doneUntil(lookAgainSeconds);
};

/** Whether it serves the newest certificate. An instance that does not answer is asked again later, and delays no other step. */
async function inspect({ db, deps, findings: { serving }, signal, log }: Scope, instance: Instance): Promise<boolean> {
  try {
    const patroni = await deps.patroni(db, instance);
    const { certificateFingerprint: fingerprint, certificateExpires: expires, serverVersion } = await patroni.status({ signal });
    const isCurrent = fingerprint === serving?.fingerprint;
    deps.inspections.remember(instance.uid, {
      fingerprint,
      expires,
      version: versionText(serverVersion),
      authorities: isCurrent ? serving.authorities : undefined,
    });
    if (!isCurrent) await patroni.reload({ signal });
    return isCurrent;
  } catch (error) {
    log.info({ pod: instance.podName, error: error as Error }, "an instance could not be asked; it is asked again");
    return false;
  }
}
