// For tests: an operator that is killed between two of its writes. Called again until nothing is left to write, it is killed after each of them.
import { operatorNamespace } from "../controllers/sampledb/stage.fixture.ts";
import type { FaultProxy } from "../e2e/faults/fault-proxy.ts";
import type { RecordedRequest } from "../e2e/faults/recording.ts";
import type { ApiRequest } from "../e2e/faults/request.ts";
import { eventually } from "../tools/eventually.ts";
import { OperatorProcess } from "./operator-process.fixture.ts";

export interface KilledOperatorOptions {
  /** Of one namespace, whose writes are counted. */
  readonly namespace: string;
  readonly isWrite?: (request: ApiRequest) => boolean;
  /** What the kubelet and the programs do meanwhile. */
  readonly play: () => Promise<void>;
  readonly isDone: () => Promise<boolean>;
}

/** Events say what was done, and nothing depends on them. */
const writesAnything = ({ method, resource }: ApiRequest) => method !== "GET" && resource !== "events";

export class KilledOperator {
  readonly #proxy: FaultProxy;
  readonly #options: KilledOperatorOptions;
  readonly #isWrite: (request: ApiRequest) => boolean;

  constructor(proxy: FaultProxy, options: KilledOperatorOptions) {
    this.#proxy = proxy;
    this.#options = options;
    this.#isWrite = options.isWrite ?? writesAnything;
  }

  /** Since the proxy's counts were reset. */
  get writes(): readonly RecordedRequest[] {
    return this.#proxy.requests.filter(this.#isWrite);
  }

  /**
   * Starts an operator, and kills it when so many of its writes are answered and it has begun the next one, which comes to nothing. False where
   * it had no more to write.
   */
  async killedAfter(writes = 1): Promise<boolean> {
    const { namespace, play, isDone } = this.#options;
    const { length } = this.writes;
    let begun = 0;
    const hold = this.#proxy.hold((request) => this.#isWrite(request) && ++begun > writes);
    const operator = new OperatorProcess(["--health-probe-bind-address=0", `--watch-namespaces=${namespace}`], {
      ...{ KUBECONFIG: this.#proxy.kubeconfig, ENABLE_WEBHOOKS: "false", POD_NAMESPACE: operatorNamespace },
    });
    try {
      const outcome = await eventually("the operator writes once more than it may, or is done", 90_000, async () => {
        const answered = this.writes.slice(length, length + writes).every(({ status }) => status !== undefined);
        if (hold.hits > 0 && answered) return "killed";
        await play();
        return (await isDone()) && "done";
      });
      return outcome === "killed";
    } finally {
      operator.tell("SIGKILL");
      await operator.ended;
      hold.remove(); // what is held has gone with its client
    }
  }
}
