// Electors with a fake clock and a lease in memory, for tests.
import { FakeClock } from "../fake-clock.fixture.ts";
import type { CallOptions } from "../kube/client.ts";
import { Aborted, DeadlineExceeded } from "../kube/errors.ts";
import { Elector } from "./elector.ts";
import type { ElectorOptions } from "./elector-options.ts";
import { LeaseInMemory } from "./lease-in-memory.fixture.ts";

export const key = { namespace: "ns", name: "operator" };

interface Told {
  readonly leading: boolean[];
  readonly failures: string[];
  readonly lost: string[];
}

export class Rehearsal {
  readonly clock = new FakeClock();
  readonly server = new LeaseInMemory();

  start(identity: string, options: Partial<ElectorOptions> = {}): Elector & { readonly told: Told } {
    const told: Told = { leading: [], failures: [], lost: [] };
    const listener = {
      leading: (isLeader: boolean) => void told.leading.push(isLeader),
      failed: ({ message }: Error) => void told.failures.push(message),
    };
    const { clock, server } = this;
    const elector = new Elector({ client: server.client, lease: key, identity, clock, listener, random: () => 0, ...options });
    void elector.lost.then(({ message }) => told.lost.push(message));
    elector.start();
    return Object.assign(elector, { told });
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.schedule(ms, resolve));
  }

  /** Hangs like a call into a black hole: until its deadline or until it is aborted. */
  readonly blackHole = async (_: string, { deadline = 0, signal }: CallOptions): Promise<void> => {
    await new Promise((_, reject) => {
      this.clock.schedule(deadline, () => reject(new DeadlineExceeded("no answer")));
      signal?.addEventListener("abort", () => reject(new Aborted("given up")));
    });
  };
}
