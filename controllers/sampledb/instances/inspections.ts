// The memory of what only an instance itself knows: its version, and the certificate that it serves.
import { BoundedMap } from "../../../runtime/bounded-map.ts";

export interface Inspection {
  /** SHA-256 of the certificate that it serves. */
  readonly fingerprint: string;
  /** When that certificate expires. */
  readonly expires: Date | undefined;
  /** The authorities that it has read. Known only once it serves the newest certificate, which comes with them. */
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
