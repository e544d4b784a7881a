// Events as the controllers record them: with a reason that docs/reasons.md describes. Another one does not compile.
import type { EventReason } from "../../api/reasons.ts";
import type { EventContent } from "../../runtime/controller/events.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";

export type DescribedEvent = EventContent & { readonly reason: EventReason };

/** The runtime's recorder, which takes any reason. */
export interface DescribedEvents {
  record(regarding: KubeObject, content: DescribedEvent): void;
}
