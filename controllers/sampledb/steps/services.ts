// The ways in.
import { wanted } from "../../../runtime/controller/kept.ts";
import { done } from "../../../runtime/controller/steps.ts";
import { podsService, readOnlyService, readWriteService } from "../../desired/services.ts";
import { services as serviceKind } from "../../kinds.ts";
import type { SampleDBStep } from "../scope.ts";

export const services: SampleDBStep = async ({ db, choices, objects }) => {
  await objects.keep(db, "services", choices.digest, () =>
    [readWriteService, readOnlyService, podsService].map((service) => wanted(serviceKind, service(db))),
  );
  return done;
};
