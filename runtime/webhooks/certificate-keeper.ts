// Keeps self-made certificates current for as long as the process lives: now, when one of them or a configuration changes, and
// when it is time.
import { Cache } from "../cache/cache.ts";
import type { CertifiedKey } from "../certificates/issue.ts";
import { type Cancel, systemClock } from "../clock.ts";
import type { Key } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { webhookConfigurations } from "./ca-bundles.ts";
import { type Keeping, keepCertificates, type SelfMadeDependencies, secrets } from "./self-made-certificates.ts";

const retryMilliseconds = 30_000;

/** Looks after the certificate that the operator makes for itself, now and whenever it is time to look again. */
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

  /** Fails when there is no certificate to begin with: without one there is nothing to serve. */
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
   * A configuration that was applied anew has lost its authorities, and refuses everything until it has them again. In caches of
   * their own: one has all objects of a kind or a selection, and the controllers' start must not depend on this.
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
      this.#changed = true; // it may have seen what was before the change
      return;
    }
    this.#cancel();
    if (!this.#ended.signal.aborted) this.#cancel = systemClock.schedule(milliseconds, () => void this.#look());
  }

  /** One at a time: the answer of an earlier look must not replace that of a later one. */
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
