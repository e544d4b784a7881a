// What follows from a spec alone, and has to be the same wherever it is asked.
import { checkSampleDB } from "../../../api/checks/sampledb.ts";
import { describeViolations } from "../../../api/checks/violation.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";
import { digest } from "../../../runtime/controller/settled.ts";
import { dynamicSettings } from "../../desired/configuration.ts";
import { trialSubject } from "../../desired/trial.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";

type Spec = SampleDB["spec"];
/** For each major. */
export type Images = Readonly<Record<number, string>>;

export class Choices {
  /** What follows from the spec alone is the same while this is. */
  readonly digest: string;
  /** Why it can't be acted on: the webhook may have been off. */
  readonly invalid: string | undefined;
  readonly #spec: Spec;
  readonly #images: Images;
  readonly #settings = new Map<boolean, string>();
  #trial: string | undefined;
  #trialAsked: string | undefined;
  #asked: { readonly restart: string | undefined; readonly digest: string } | undefined;

  constructor(spec: Spec, images: Images, specDigest = digest(spec)) {
    const violations = checkSampleDB(spec);
    this.digest = specDigest;
    this.invalid = violations.length > 0 ? describeViolations(violations) : undefined;
    this.#spec = spec;
    this.#images = images;
  }

  get image(): string {
    const image = this.#spec.image ?? this.#images[this.#spec.postgresVersion];
    if (image === undefined) throw new Error(`this operator has no image for PostgreSQL ${this.#spec.postgresVersion}: set spec.image`);
    return image;
  }

  /** Of what a trial has to prove. */
  get trialDigest(): string {
    this.#trial ??= digest(trialSubject({ spec: this.#spec }, this.image));
    return this.#trial;
  }

  /**
   * Of all that waits while something is on trial, in the user's words. Where they are the same and what has to be proven is not, a newer
   * operator makes it differently; where they are not, somebody waits.
   */
  get trialAskedDigest(): string {
    const { postgresql, synchronousReplication, replicas } = this.#spec;
    this.#trialAsked ??= digest({ ...askedOfPods(this.#spec), postgresql, synchronousReplication, replicas });
    return this.#trialAsked;
  }

  /** Patroni's. */
  settings(initialized: boolean): string {
    const known = this.#settings.get(initialized) ?? dynamicSettings({ spec: this.#spec }, initialized);
    this.#settings.set(initialized, known);
    return known;
  }

  /** Of what the user asks of the Pods. What the operator's own version adds is not in it: an upgrade of it restarts nothing. */
  askedDigest(restart: string | undefined): string {
    if (this.#asked?.restart !== restart || !this.#asked)
      this.#asked = { restart, digest: digest({ ...askedOfPods(this.#spec), restart }) };
    return this.#asked.digest;
  }
}

/** Every reconcile asks, and nearly all of them find a spec that was found before: each is worked out once. */
export class KnownChoices {
  readonly #images: Images;
  readonly #known = new BoundedMap<Choices>(5_000);

  constructor(images: Images) {
    this.#images = images;
  }

  of(spec: Spec): Choices {
    const specDigest = digest(spec);
    const known = this.#known.get(specDigest);
    if (known) return known;
    const made = new Choices(spec, this.#images, specDigest);
    this.#known.set(specDigest, made);
    return made;
  }
}

function askedOfPods(spec: Spec): object {
  const { image, postgresVersion: major, resources, podMetadata } = spec;
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints, priorityClassName, imagePullSecrets } = spec;
  const where = { nodeSelector, affinity, tolerations, topologySpreadConstraints, priorityClassName, imagePullSecrets };
  return { image, major, resources, ...where, podMetadata };
}
