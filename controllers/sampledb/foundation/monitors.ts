// Writes PodMonitors. Their kind is there only with the Prometheus operator, and can come and go. So it is not watched: a watch of a kind
// that is not served would keep the whole operator from starting. Instead, this class remembers for a while what it saw.
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
  /** More labels for each PodMonitor. */
  readonly labels: Readonly<Record<string, string>>;
  readonly now: () => Date;
}

/** For this long the API server is not asked again whether it serves the kind. */
const kindMilliseconds = 3_600_000;
/** For this long a PodMonitor is not read again: one that was right, and one that could not be written. */
const rightMilliseconds = 6 * 3_600_000;
const wrongMilliseconds = 600_000;

export class Monitors {
  readonly #options: MonitorsOptions;
  readonly #seen = new BoundedMap<{ readonly digest: string; readonly until: number }>(10_000);
  #kind: { readonly served: Promise<boolean>; readonly until: number } | undefined;

  constructor(options: MonitorsOptions) {
    this.#options = options;
  }

  /** Writes the PodMonitor where the kind is served. Costs no request while the last look is remembered. */
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
      this.#kind = undefined; // the kind is gone meanwhile
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

/** Adds a digest, so that a live object with a label that is no longer wanted differs, too. */
function marked(desired: PodMonitor): PodMonitor {
  return { ...desired, metadata: { ...desired.metadata, annotations: { [appliedAnnotation]: digest(desired) } } };
}
