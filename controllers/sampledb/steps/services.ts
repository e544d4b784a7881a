// The ways in.
import { done } from "../../../runtime/controller/steps.ts";
import { podsService, readOnlyService, readWriteService } from "../../desired/services.ts";
import { services as serviceKind } from "../../kinds.ts";
import type { SampleDBStep } from "../scope.ts";

export const services: SampleDBStep = async ({ db, objects }) => {
  await Promise.all([readWriteService, readOnlyService, podsService].map((service) => objects.apply(serviceKind, service(db))));
  return done;
};
