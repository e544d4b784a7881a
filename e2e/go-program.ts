// A Go program that the suites use, built once from a pinned module and kept in the build cache.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, fingerprint, touch } from "../tools/cache.ts";
import { buildGo } from "../tools/go-build.ts";
import { step } from "../tools/progress.ts";
import { projectDirectory } from "./cluster/plan.ts";

export interface GoProgram {
  /** The file's name, and the folder's in the cache. */
  readonly name: string;
  /** For messages. */
  readonly title: string;
  /** The folder of our module, whose go.mod pins the version. */
  readonly source: string;
  /** The module whose version the messages name. */
  readonly module: string;
  readonly package: string;
  readonly linkerFlags?: readonly string[];
}

const buildsKept = 2;

/** The path of the program. */
export async function goProgram({ name, title, source, module, package: main, linkerFlags = [] }: GoProgram): Promise<string> {
  const buildFlags = ["-trimpath", `-ldflags=${["-s -w", ...linkerFlags].join(" ")}`];
  const directory = join(cacheDirectory, name, fingerprint([source], [...buildFlags, process.arch]));
  const program = join(directory, name);
  if (existsSync(directory)) {
    touch(directory);
    return program;
  }
  const modules = readFileSync(join(source, "go.mod"), "utf8");
  const version =
    modules
      .split("\n")
      .find((line) => line.includes(`${module} v`))
      ?.match(/ (v\S+)/)?.[1] ?? "unknown";
  await step(`building ${title} ${version} from source (minutes, once)`, () =>
    buildGo(directory, {
      what: title,
      source,
      leastGo: /^go (\d+\.\d+)/m.exec(modules)?.[1] ?? "unknown",
      askIn: source,
      arguments: (unfinished) => [...buildFlags, "-o", join(unfinished, name), main],
      failure: `could not build ${title}`,
      log: join(projectDirectory, `build/logs/${name}.log`),
      buildsKept,
    }),
  );
  return program;
}
