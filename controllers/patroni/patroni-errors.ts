// The failures of a call to an instance's Patroni, one class for each decision that a caller makes.

/** Any failure of such a call, including an answer that can't be understood. */
export class PatroniError extends Error {
  override readonly name: string = "PatroniError";
}

/** No complete answer: no listener, no trust in TLS, a broken connection. Whether Patroni acted is unknown. */
export class PatroniUnreachable extends PatroniError {
  override readonly name: string = "PatroniUnreachable";
}

/** Not answered in time. */
export class PatroniTimeout extends PatroniUnreachable {
  override readonly name = "PatroniTimeout";
  /** The whole request was sent before: Patroni carries it out, whether the caller waits or not. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }
}

/** Patroni refused the request; `answer` is its own sentence. */
export class PatroniRefused extends PatroniError {
  override readonly name = "PatroniRefused";
  readonly status: number;
  readonly answer: string;

  constructor(what: string, status: number, answer: string) {
    super(`${what}: ${answer === "" ? `answered ${status}` : answer}`);
    this.status = status;
    this.answer = answer;
  }
}
