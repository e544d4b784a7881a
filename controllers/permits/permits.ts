// Permits: what a controller asks before it makes the Job of a backup or of a restore.

/** One backup or restore. */
export interface Operation {
  readonly kind: "Backup" | "Restore";
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Which store it works on: equal for all that share a bucket, or a repository's volume. */
  readonly store: string;
  /** When its object was made. */
  readonly since: string;
}

export type Permit =
  | { readonly granted: true }
  /** `message` says what it waits for, and how many are before it. */
  | { readonly granted: false; readonly message: string };

export interface Permits {
  /**
   * Asks whether the operation may begin now. One that is granted counts as running at once; its Job has to follow within a minute.
   * One that is refused keeps its place in the line while it asks again every few seconds.
   */
  ask(operation: Operation): Promise<Permit>;
  /** The operation with this uid could not begin after all. It counts as running no more, until it asks again. */
  giveBack(uid: string): void;
}
