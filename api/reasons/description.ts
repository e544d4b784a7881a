// What is said of a reason: enough for a person who is woken by it and reads no code.
import type { conditionTypes } from "../conditions.ts";

export type ConditionType = (typeof conditionTypes)[keyof typeof conditionTypes];

/** A condition by its type; a blocker in `status.blockers`, which is also an Event when it begins; or an Event of its own. */
export type Place = ConditionType | "blocker" | "event";

export interface ReasonDescription {
  readonly name: string;
  readonly where: readonly Place[];
  /** What is so, what follows from it for applications, and what the operator does by itself. */
  readonly meaning: string;
  /** What a person does. NAME is the SampleDB's name, POD an instance's Pod. */
  readonly wayOut: string;
  readonly commands?: readonly string[];
}

export type Descriptions = Readonly<Record<string, ReasonDescription>>;

/** Where no person has to act. */
export const nothing = "Nothing.";
