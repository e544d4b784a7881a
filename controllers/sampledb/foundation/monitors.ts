// The PodMonitors. Their kind comes with the Prometheus operator and may not be there, or come and go: so it is not watched, as a kind
// that is not served would keep the whole operator waiting. What was seen is remembered for a while.
import { appliedAnnotation } from "../../../api/annotations.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";
import { covers } from "../../../runtime/controller/difference.ts";
import { Occupied } from "../../../runtime/controller/objects.ts";
import { digest } from "../../../runtime/controller/settled.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { NotFound } from "../../../runtime/kube/errors.ts";
import { controllerOf, keyOf, keyText } from "../../../runtime/kube/object.ts";
import { podMonitor } from "../../desired/monitoring.ts";
import { type PodMonitor, podMonitors } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";

export interface MonitorsOptions {
  /** On each PodMonitor. */
  readonly labels: Readonly<Record<string, string>>;
  readonly now: () => Date;
}

/** How long it is taken for granted that the kind is there or is not. */
const kindMilliseconds = 3_600_000;
/** The same of an object that is as it should be, and of one that could not be written. */
const rightMilliseconds = 6 * 3_600_000;
const wrongMilliseconds = 600_000;

export class Monitors {
  readonly #options: MonitorsOptions;
  readonly #seen = new BoundedMap<{ readonly digest: string; readonly until: number }>(10_000);
  #kind: { readonly served: Promise<boolean>; readonly until: number } | undefined;

  constructor(options: MonitorsOptions) {
    this.#options = options;
  }

  /** Makes it so where the kind is served; costs no request when it was looked at not long ago. */
  async ensure(db: SampleDB, client: KubeClient): Promise<void> {
    if (!(await this.#isServed(client))) return;
    const { labels, now } = this.#options;
    const { uid = "" } = db.metadata;
    const desired = marked(podMonitor(db, labels));
    const wanted = digest(desired);
    const seen = this.#seen.get(uid);
    if (seen?.digest === wanted && seen.until > now().getTime()) return;
    const until = (milliseconds: number) => ({ digest: wanted, until: now().getTime() + milliseconds });
    this.#seen.set(uid, until(wrongMilliseconds));
    try {
      await write(client, desired, uid);
      this.#seen.set(uid, until(rightMilliseconds));
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#kind = undefined; // it has gone meanwhile
      this.#seen.delete(uid);
    }
  }

  #isServed(client: KubeClient): Promise<boolean> {
    const now = this.#options.now().getTime();
    if (this.#kind && this.#kind.until > now) return this.#kind.served;
    const served = client.serves(podMonitors).catch((error: unknown) => {
      this.#kind = undefined;
      throw error;
    });
    this.#kind = { served, until: now + kindMilliseconds };
    return served;
  }
}

async function write(client: KubeClient, desired: PodMonitor, owner: string): Promise<void> {
  const live = await client.find(podMonitors, keyOf(desired));
  if (live && controllerOf(live)?.uid !== owner) {
    throw new Occupied(`PodMonitor ${keyText(keyOf(live))} is there already and someone else's`);
  }
  if (!live || !covers(live, desired)) await client.apply(podMonitors, desired);
}

/** So that a label that is not wanted any more is noticed as well. */
function marked(desired: PodMonitor): PodMonitor {
  return { ...desired, metadata: { ...desired.metadata, annotations: { [appliedAnnotation]: digest(desired) } } };
}
