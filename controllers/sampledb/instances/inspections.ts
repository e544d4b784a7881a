// What can be learnt of an instance only by asking it: its version, and which certificate it serves. Asked once, and remembered.
import { BoundedMap } from "../../../runtime/bounded-map.ts";

export interface Inspection {
  /** Of the certificate that it serves. */
  readonly fingerprint: string;
  /** When it ends. */
  readonly expires: Date | undefined;
  /** The authorities that came with that certificate, once it serves the newest. */
  readonly authorities: string | undefined;
  /** Such as 17.5. */
  readonly version: string | undefined;
}

export class Inspections {
  readonly #byPod = new BoundedMap<Inspection>(20_000);

  of(podUid: string): Inspection | undefined {
    return this.#byPod.get(podUid);
  }

  remember(podUid: string, inspection: Inspection): void {
    this.#byPod.set(podUid, inspection);
  }
}

/** As people write it: 170005 is 17.5. */
export function versionText(serverVersion: number | undefined): string | undefined {
  return serverVersion === undefined ? undefined : `${Math.floor(serverVersion / 10_000)}.${serverVersion % 10_000}`;
}
