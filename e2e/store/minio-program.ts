// MinIO, built once from the pinned module and kept in the build cache.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, fingerprint, touch } from "../../tools/cache.ts";
import { buildGo } from "../../tools/go-build.ts";
import { step } from "../../tools/progress.ts";
import { projectDirectory } from "../cluster/plan.ts";

const source = join(import.meta.dirname, "minio");

/** As pinned in go.mod, so that they are written in one place. */
const modules = readFileSync(join(source, "go.mod"), "utf8");
const version = /github\.com\/minio\/minio (v\S+)/.exec(modules)?.[1] ?? "unknown";
const goVersion = /^go (\d+\.\d+)/m.exec(modules)?.[1] ?? "unknown";

const buildsKept = 2;
const buildFlags = ["-trimpath", "-ldflags=-s -w"];

/** The path of the program. */
export async function minioProgram(): Promise<string> {
  const directory = join(cacheDirectory, "minio", fingerprint([source], [...buildFlags, process.arch]));
  if (existsSync(directory)) touch(directory);
  else await step(`building MinIO ${version} from source (minutes, once)`, () => build(directory));
  return join(directory, "minio");
}

async function build(directory: string): Promise<void> {
  await buildGo(directory, {
    what: "MinIO",
    source,
    leastGo: goVersion,
    arguments: (unfinished) => [...buildFlags, "-o", join(unfinished, "minio"), "github.com/minio/minio"],
    failure: "could not build MinIO",
    log: join(projectDirectory, "build/logs/minio.log"),
    buildsKept,
  });
}
