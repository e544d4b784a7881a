// Locks between processes. A lock is a socket without a file: the kernel releases it when its holder ends, however that happens.
import { connect, createServer } from "node:net";
import { eventually } from "./eventually.ts";

/** Takes the lock and resolves to a function that releases it; undefined when another process has it. */
export async function tryLock(name: string, holder: string): Promise<(() => void) | undefined> {
  return await new Promise((resolve, reject) => {
    const server = createServer((visitor) => visitor.on("error", () => {}).end(holder));
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(address(name), () => resolve(() => server.unref().close()));
  });
}

/** Waits for the lock, and holds it during the work. */
export async function withLock<T>(name: string, holder: string, work: () => Promise<T>): Promise<T> {
  const release = await eventually(`the lock ${name} is free`, 3_600_000, () => tryLock(name, holder));
  try {
    return await work();
  } finally {
    release();
  }
}

/** The holder's description of itself; undefined when the lock is free. */
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
