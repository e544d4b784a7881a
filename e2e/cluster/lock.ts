// One command at a time for each cluster. The lock is a socket without a file: the kernel lets go of it when its holder ends, however it ends.
import { connect, createServer, type Server } from "node:net";
import { Refusal } from "../../tools/progress.ts";
import type { ClusterPlan } from "./plan.ts";

/** Runs the work while holding the cluster's lock; refuses when another command holds it. */
export async function withLock<T>(plan: ClusterPlan, command: string, work: () => Promise<T>): Promise<T> {
  const address = `\0${plan.name}-lock`;
  const lock = await listen(address, `${command}, process ${process.pid}`);
  if (!lock)
    throw new Refusal(`another command is working on ${plan.name} (${await askHolder(address)}): wait for it to end and run this again`);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function listen(address: string, holder: string): Promise<Server | undefined> {
  return await new Promise((resolve, reject) => {
    const server = createServer((visitor) => visitor.on("error", () => {}).end(holder));
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(address, () => resolve(server.unref()));
  });
}

async function askHolder(address: string): Promise<string> {
  return await new Promise((resolve) => {
    let answer = "";
    connect(address)
      .setEncoding("utf8")
      .setTimeout(1000, () => resolve("it does not say which"))
      .on("data", (text: string) => {
        answer += text;
      })
      .on("end", () => resolve(answer))
      .on("error", () => resolve("it has just ended"));
  });
}
