// Locks between processes. A lock is a socket without a file: the kernel lets go of it when its holder ends, however it ends.
import { connect, createServer } from "node:net";
import { eventually } from "./eventually.ts";

/** Takes the lock and resolves to what releases it; undefined when another process has it. */
export async function tryLock(name: string, holder: string): Promise<(() => void) | undefined> {
  return await new Promise((resolve, reject) => {
    const server = createServer((visitor) => visitor.on("error", () => {}).end(holder));
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(address(name), () => resolve(() => server.unref().close()));
  });
}

/** Does the work while holding the lock, for which it waits. */
export async function withLock<T>(name: string, holder: string, work: () => Promise<T>): Promise<T> {
  const release = await eventually(`the lock ${name} is free`, 3_600_000, () => tryLock(name, holder));
  try {
    return await work();
  } finally {
    release();
  }
}

/** What the holder says of itself; undefined when nobody holds the lock. */
export async function lockHolder(name: string): Promise<string | undefined> {
  return await new Promise((resolve) => {
    let answer = "";
    connect(address(name))
      .setEncoding("utf8")
      .setTimeout(1000, () => resolve("it does not say which"))
      .on("data", (text: string) => {
        answer += text;
      })
      .on("end", () => resolve(answer))
      .on("error", () => resolve(undefined));
  });
}

function address(name: string): string {
  return `\0sampledb-${name}`;
}
