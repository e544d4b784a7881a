// The order to make an instance anew, given by annotation.
import { replaceAnnotation } from "../../../api/annotations.ts";
import { type DatabaseView, lastPrimary } from "../../database/view.ts";
import { podName } from "../../desired/names.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";

interface ReplacementOrder {
  readonly name: string;
  /** Once the operator has begun: the uid of the claim that is to go. */
  readonly claimed: string | undefined;
}

export function replacementOrder({ metadata }: SampleDB): ReplacementOrder | undefined {
  const [name, claimed] = metadata.annotations?.[replaceAnnotation]?.split("/") ?? [];
  return name === undefined ? undefined : { name, claimed };
}

/** The last primary, where a person has said that its data is gone for good. */
export function givenUp(db: SampleDB, observed: DatabaseView): string | undefined {
  const last = lastPrimary(db, observed);
  const order = replacementOrder(db);
  return last !== undefined && order?.name === podName(db, last) ? order.name : undefined;
}
