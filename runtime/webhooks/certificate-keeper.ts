// Keeps self-made certificates current while the process lives: checks them at the start, when the Secret or a configuration
// changes, and periodically.
import { Cache } from "../cache/cache.ts";
import type { CertifiedKey } from "../certificates/issue.ts";
import { type Cancel, systemClock } from "../clock.ts";
import type { Key } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { webhookConfigurations } from "./ca-bundles.ts";
import { type Keeping, keepCertificates, type SelfMadeDependencies, secrets } from "./self-made-certificates.ts";

const retryMilliseconds = 30_000;

/** Keeps the certificate that the operator makes for itself. */
export class CertificateKeeper {
  readonly #deps: SelfMadeDependencies;
  readonly #onChange: (certificate: CertifiedKey) => void;
  #current: CertifiedKey;
  #cancel: Cancel = () => {};
  readonly #ended = new AbortController();
  #looking = false;
  #changed = false;
  #told = "";
  problem: string | undefined;

  /** Rejects when there is no certificate to begin with: there would be nothing to serve. */
  static async start(deps: SelfMadeDependencies, onChange: (certificate: CertifiedKey) => void): Promise<CertificateKeeper> {
    const keeper = new CertificateKeeper(await keepCertificates(deps), deps, onChange);
    keeper.#watch();
    return keeper;
  }

  private constructor(first: Keeping, deps: SelfMadeDependencies, onChange: (certificate: CertifiedKey) => void) {
    this.#deps = deps;
    this.#onChange = onChange;
    this.#current = first.serving;
    this.#settle(first);
  }

  get current(): CertifiedKey {
    return this.#current;
  }

  stop(): void {
    this.#ended.abort();
    this.#cancel();
  }

  /**
   * A configuration that is applied again loses its authorities, and the API server refuses all requests until it has them. Uses
   * caches of its own: a cache has one selection for each kind, and the controllers' start must not depend on these.
   */
  #watch(): void {
    const { kube: client, configurations, secret } = this.#deps;
    const watch = (resource: Resource, { namespace, name }: Key) => {
      const cache = new Cache({ client, namespaces: [namespace] });
      cache.watch(resource, { fieldSelector: `metadata.name=${name}` }).subscribe(() => this.#again(0));
      cache.start(this.#ended.signal);
    };
    for (const { kind, name } of configurations) watch(webhookConfigurations[kind], { namespace: "", name });
    watch(secrets, secret);
  }

  #settle({ serving, nextCheckMs, missing, problems }: Keeping): void {
    const problem = problems.join("; ") || undefined;
    const told = problem ?? missing.join("; ");
    if (told !== this.#told && told !== "") this.#deps.log.warn({ problem: told }, "the API server does not call or trust the webhooks");
    this.#told = told;
    this.problem = problem;
    this.#current = serving;
    this.#onChange(serving);
    this.#again(nextCheckMs);
  }

  #again(milliseconds: number): void {
    if (this.#looking && milliseconds === 0) {
      this.#changed = true; // the look under way may have read the state before the change
      return;
    }
    this.#cancel();
    if (!this.#ended.signal.aborted) this.#cancel = systemClock.schedule(milliseconds, () => void this.#look());
  }

  /** One look at a time: the result of an earlier one must not replace that of a later one. */
  async #look(): Promise<void> {
    this.#looking = true;
    this.#changed = false;
    try {
      this.#settle(await keepCertificates(this.#deps));
    } catch (error) {
      this.#deps.log.warn({ error }, "the webhooks' certificate could not be looked after; it is tried again");
      this.#again(retryMilliseconds);
    } finally {
      this.#looking = false;
      if (this.#changed) this.#again(0);
    }
  }
}
