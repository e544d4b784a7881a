// Divides the event loop between streams and everything else.

/**
 * The longest time that all streams together may keep the event loop busy. The initial list of a large cluster arrives as fast
 * as it can be read, and a lease has to be renewed meanwhile.
 */
const longestTurnMilliseconds = 5;

class StreamTurn {
  #began: number | undefined;

  begin(): void {
    if (this.#began !== undefined) return;
    this.#began = performance.now();
    setImmediate(() => {
      this.#began = undefined;
    });
  }

  get isOver(): boolean {
    return this.#began !== undefined && performance.now() - this.#began > longestTurnMilliseconds;
  }
}

export const streamTurn = new StreamTurn();
