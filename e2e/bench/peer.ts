// The controller in Go that ours is measured against, built once from the pinned modules and kept in the build cache.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, fingerprint, touch } from "../../tools/cache.ts";
import { buildGo } from "../../tools/go-build.ts";
import { step } from "../../tools/progress.ts";

const source = join(import.meta.dirname, "peer");
const buildLog = join(import.meta.dirname, "../../build/logs/peer.log");

/** As pinned in go.mod, so that they are written in one place. */
const modules = readFileSync(join(source, "go.mod"), "utf8");
export const peerVersion = /sigs\.k8s\.io\/controller-runtime (v\S+)/.exec(modules)?.[1] ?? "unknown";
const goVersion = /^go (\d+\.\d+)/m.exec(modules)?.[1] ?? "unknown";

const buildsKept = 2;
const buildFlags = ["-trimpath", "-ldflags=-s -w"];

/** The path of the built program. */
export async function peerProgram(): Promise<string> {
  const directory = join(cacheDirectory, "peer", fingerprint([source], [...buildFlags, process.arch]));
  if (existsSync(directory)) touch(directory);
  else await step(`building the peer on controller-runtime ${peerVersion} from source (minutes, once)`, () => build(directory));
  return join(directory, "widget-controller");
}

async function build(directory: string): Promise<void> {
  await buildGo(directory, {
    what: "the peer",
    source,
    leastGo: goVersion,
    askIn: source,
    arguments: (unfinished) => [...buildFlags, "-o", join(unfinished, "widget-controller"), "."],
    failure: "could not build the peer",
    log: buildLog,
    buildsKept,
  });
}
