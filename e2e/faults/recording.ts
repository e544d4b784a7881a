// The requests that came through a proxy and what was answered to them.
import { type ApiRequest, type Matcher, matches } from "./request.ts";

export interface RecordedRequest extends ApiRequest {
  /** When it came, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** When its answer was complete or its connection gone; undefined before. */
  readonly endedAt: number | undefined;
  /** Undefined while nothing is answered, and for ever when the connection went first. */
  readonly status: number | undefined;
}

type Writable<T> = { -readonly [field in keyof T]: T[field] };

export class Recording {
  #requests: RecordedRequest[] = [];
  readonly #inFlight = new Set<RecordedRequest>();

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  begin(request: ApiRequest): RecordedRequest {
    const recorded = { ...request, startedAt: performance.now(), endedAt: undefined, status: undefined };
    this.#requests.push(recorded);
    this.#inFlight.add(recorded);
    return recorded;
  }

  answered(request: Writable<RecordedRequest>, status: number): void {
    request.status = status;
  }

  ended(request: Writable<RecordedRequest>): void {
    request.endedAt = performance.now();
    this.#inFlight.delete(request);
  }

  count(matcher: Matcher): number {
    return this.#requests.filter((request) => matches(matcher, request)).length;
  }

  inFlight(matcher: Matcher): number {
    return [...this.#inFlight].filter((request) => matches(matcher, request)).length;
  }

  reset(): void {
    this.#requests = [];
  }
}
