// Events as the controllers record them. A reason that docs/reasons.md does not describe does not compile.
import type { EventReason } from "../../api/reasons.ts";
import type { EventContent } from "../../runtime/controller/events.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";

export type DescribedEvent = EventContent & { readonly reason: EventReason };

/** The runtime's recorder, narrowed to described reasons. */
export interface DescribedEvents {
  record(regarding: KubeObject, content: DescribedEvent): void;
}
