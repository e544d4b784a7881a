// Builds Go programs, once for the same sources, and reports what a person can fix.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { forgetOldest, makeOnce } from "./cache.ts";
import { CommandError, ProgramMissing, run } from "./command.ts";
import { Refusal } from "./progress.ts";

export interface GoBuild {
  /** For messages: `to build …`. */
  readonly what: string;
  /** The folder of the module. */
  readonly source: string;
  /** The lowest version of Go, `1.24`. */
  readonly leastGo: string;
  /** The folder in which Go is asked for its version: in a module, Go answers with the version that it downloads for the module. */
  readonly askIn?: string;
  /** The arguments of `go build`, for the folder to fill. */
  readonly arguments: (unfinished: string) => readonly string[];
  /** The message when the build fails. */
  readonly failure: string;
  readonly log: string;
  readonly buildsKept: number;
}

/** Fills the folder, whose name is a fingerprint; `finish` adds files that `go build` does not make. */
export async function buildGo(
  directory: string,
  build: GoBuild,
  finish: (unfinished: string) => void | Promise<void> = () => {},
): Promise<void> {
  const { source: cwd, failure, log: logFile } = build;
  await requireGo(build);
  await makeOnce(directory, async (unfinished) => {
    mkdirSync(unfinished);
    try {
      await run("go", ["mod", "download"], { cwd, logFile });
    } catch (error) {
      throw explain(error, "could not download the Go modules: check the network and GOPROXY, then run it again", logFile);
    }
    try {
      const env = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOOS: "linux" };
      await run("go", ["build", ...build.arguments(unfinished)], { cwd, env, logFile });
    } catch (error) {
      throw explain(error, failure, logFile);
    }
    await finish(unfinished);
  });
  forgetOldest(dirname(directory), /^[0-9a-f]{16}$/, build.buildsKept);
}

async function requireGo({ what, leastGo, askIn }: GoBuild): Promise<void> {
  try {
    const answer = await run("go", ["env", "GOVERSION"], askIn === undefined ? {} : { cwd: askIn });
    const [, found = ""] = /go(\d+\.\d+)/.exec(answer) ?? [];
    if (minor(found) < minor(leastGo)) throw new Refusal(`Go ${found} is too old to build ${what}: install Go ${leastGo} or newer`);
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    throw new Refusal(`Go is needed once, to build ${what}: install Go ${leastGo} or newer and put it on PATH`);
  }
}

function minor(version: string): number {
  return Number(version.split(".")[1]);
}

function explain(error: unknown, sentence: string, log: string): unknown {
  return error instanceof CommandError ? new Refusal(`${sentence} (${log} has the details)`) : error;
}
