// Conditions of the kinds that no controller acts on yet: each says so, so that no user waits for a backup that never comes.
// A kind leaves this file when its controller is there.
import type { Condition } from "../api/conditions.ts";
import { conditionTypes } from "../api/conditions.ts";
import { reasons } from "../api/reasons.ts";
import type { Cache } from "../runtime/cache/cache.ts";
import { ControllerBuilder, type ControllerDefinition, type ReconcileOptions } from "../runtime/controller/builder.ts";
import { type ConditionNow, conditionsNow } from "../runtime/controller/conditions.ts";
import { generationChanged } from "../runtime/controller/predicates.ts";
import { awaitChange } from "../runtime/controller/result.ts";
import type { KubeObject } from "../runtime/kube/object.ts";
import type { Resource } from "../runtime/kube/resource.ts";
import { type Restore, restores } from "./kinds/sampledb-io.ts";

export interface Dependencies {
  readonly cache: Cache;
  readonly now: () => Date;
}

/** Unknown, not False: the work has not failed, and a later version of the operator will do it. */
const unknown = { status: "Unknown", reason: reasons.notSupported } as const;

function restoreCondition(_: Restore): ConditionNow {
  const message =
    "This version of the operator does not restore: nothing was changed. A version that does will take this one up; delete it if that is not wanted.";
  return { ...unknown, type: conditionTypes.succeeded, message };
}

export function notSupportedControllers(deps: Dependencies, options: ReconcileOptions): ControllerDefinition[] {
  return [saying("restore", restores, restoreCondition, deps, options)];
}

type WithConditions = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] | undefined } };

function saying<T extends WithConditions>(
  name: string,
  resource: Resource<T>,
  condition: (object: T) => ConditionNow,
  { cache, now }: Dependencies,
  options: ReconcileOptions,
): ControllerDefinition {
  return ControllerBuilder.for(name, resource, generationChanged).reconcile(async ({ key, objects }) => {
    const object = cache.watched(resource).get(key);
    if (!object || object.metadata.deletionTimestamp) return awaitChange;
    const before = object.status?.conditions ?? [];
    const conditions = conditionsNow(before, [condition(object)], object.metadata.generation, now);
    await objects.applyStatus(resource, object, { conditions } as NonNullable<T["status"]>);
    return awaitChange;
  }, options);
}
