// What can go wrong with a call to an instance's Patroni, one class for each decision that a caller makes.

/** Any failure of such a call, also an answer that makes no sense. */
export class PatroniError extends Error {
  override readonly name: string = "PatroniError";
}

/** No answer, or not to the end: nothing listens, TLS found no trust, the connection broke. Whether something was done is not known. */
export class PatroniUnreachable extends PatroniError {
  override readonly name: string = "PatroniUnreachable";
}

/** Not answered in time. */
export class PatroniTimeout extends PatroniUnreachable {
  override readonly name = "PatroniTimeout";
  /** The whole request was handed over before: Patroni does what it was asked, whether we wait for it or not. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }
}

/** Patroni answered, and does not do what was asked; `answer` is its own sentence. */
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
