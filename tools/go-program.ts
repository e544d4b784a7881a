// A Go program that tests and releases use, built once from a pinned module and kept in the build cache.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDirectory, fingerprint, touch } from "./cache.ts";
import { buildGo } from "./go-build.ts";
import { step } from "./progress.ts";

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
  readonly tags?: readonly string[];
}

const buildsKept = 2;

/** The path of the program. */
export async function goProgram({ name, title, source, module, package: main, ...options }: GoProgram): Promise<string> {
  const { linkerFlags = [], tags = [] } = options;
  const tagged = tags.length > 0 ? [`-tags=${tags.join(",")}`] : [];
  const buildFlags = ["-trimpath", `-ldflags=${["-s -w", ...linkerFlags].join(" ")}`, ...tagged];
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
      log: join(dirname(import.meta.dirname), `build/logs/${name}.log`),
      buildsKept,
    }),
  );
  return program;
}
