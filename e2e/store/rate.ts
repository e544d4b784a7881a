// A line that all bytes share, as slow as it is said to be.
import { Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export class Rate {
  /** Undefined is as fast as it goes. */
  bytesPerSecond: number | undefined;
  /** When all that has come so far will have passed. */
  #freeAt = 0;

  /** One more stream on the line; each waits for what came before it, on whichever stream. */
  gate(): Transform {
    return new Transform({
      transform: async (chunk: Buffer, _encoding, done) => {
        await this.#pass(chunk.length);
        done(null, chunk);
      },
    });
  }

  async #pass(bytes: number): Promise<void> {
    if (this.bytesPerSecond === undefined) return;
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now) + (bytes / this.bytesPerSecond) * 1000;
    await sleep(this.#freeAt - now, undefined, { ref: false });
  }
}
