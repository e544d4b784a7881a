// Values that follow from a spec alone: its validity, its image and its digests. The digests distinguish a change by the user from one by a
// newer operator.
import { checkSampleDB } from "../../../api/checks/sampledb.ts";
import { describeViolations } from "../../../api/checks/violation.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";
import { digest } from "../../../runtime/controller/settled.ts";
import { dynamicSettings } from "../../desired/configuration.ts";
import { type Images, ownImage } from "../../desired/own-image.ts";
import { trialSubject } from "../../desired/trial.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";

type Spec = SampleDB["spec"];

export class Choices {
  /** Digest of the whole spec. While it is the same, every object that follows from the spec alone is the same. */
  readonly digest: string;
  /** Why the operator can't act on the spec. Such a spec gets here when the webhook was off. */
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
    return this.#spec.image ?? this.ownImage;
  }

  /** The operator's own image of the major, for Pods that hold keys which the user's image must not see. */
  get ownImage(): string {
    return ownImage(this.#images, this.#spec.postgresVersion);
  }

  /** Digest of everything that a trial covers, as this version of the operator makes it. */
  get trialDigest(): string {
    this.#trial ??= digest(trialSubject({ spec: this.#spec }, this.image));
    return this.#trial;
  }

  /**
   * Digest of the spec fields that wait for a trial, as the user wrote them. Unchanged while `trialDigest` changed: a newer operator did
   * it. Otherwise the user did, and Ready waits.
   */
  get trialAskedDigest(): string {
    const { postgresql, synchronousReplication, replicas } = this.#spec;
    this.#trialAsked ??= digest({ ...askedOfPods(this.#spec), postgresql, synchronousReplication, replicas });
    return this.#trialAsked;
  }

  /** Patroni's settings as text. */
  settings(initialized: boolean): string {
    const known = this.#settings.get(initialized) ?? dynamicSettings({ spec: this.#spec }, initialized);
    this.#settings.set(initialized, known);
    return known;
  }

  /** Digest of the user's words about the Pods. It has nothing of the operator's own in it, so a newer operator restarts nothing. */
  askedDigest(restart: string | undefined): string {
    if (this.#asked?.restart !== restart || !this.#asked)
      this.#asked = { restart, digest: digest({ ...askedOfPods(this.#spec), restart }) };
    return this.#asked.digest;
  }
}

/** Remembers the choices of each spec, because nearly every reconcile has a spec that was seen before. */
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
  const archives = spec.backup && true; // undefined and so no part of the digest for databases from before there was an archive
  return { image, major, resources, ...where, podMetadata, archives };
}
