// The Services of a SampleDB, and the EndpointSlice of the read-write Service.
import { wanted } from "../../../runtime/controller/kept.ts";
import { done } from "../../../runtime/controller/steps.ts";
import { isControlledBy } from "../../../runtime/kube/object.ts";
import { namesOf } from "../../desired/names.ts";
import { podsService, readOnlyService, readWriteService, readWriteSlice } from "../../desired/services.ts";
import { endpointSlices, services as serviceKind } from "../../kinds/kubernetes.ts";
import type { SampleDBStep } from "../scope.ts";

export const services: SampleDBStep = async ({ db, key: { namespace }, choices, deps, objects, findings, observed }) => {
  // Before the Services: where the API server refuses one, as for a bad annotation, nothing else has to wait.
  if (isControlledBy(observed.writeSlice, db)) findings.confirmed.add("slice");
  await objects.keep(db, "services", choices.digest, () =>
    [readWriteService, readOnlyService, podsService].map((service) => wanted(serviceKind, service(db))),
  );
  // The API server chooses the address family of the Service, and its endpoints must have the same.
  const family = deps.cache.watched(serviceKind).get({ namespace, name: namesOf(db).readWriteService })?.spec?.ipFamilies?.[0];
  if (family === undefined) return done; // just made: the watch brings it long before an instance leads
  await objects.keep(db, "slices", `${choices.digest} ${family}`, () => [wanted(endpointSlices, readWriteSlice(db, family))]);
  findings.confirmed.add("slice");
  return done;
};
