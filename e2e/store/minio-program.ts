// MinIO, built once from the pinned module and kept in the build cache.
import { join } from "node:path";
import { goProgram } from "../../tools/go-program.ts";

/** The path of the program. */
export function minioProgram(): Promise<string> {
  const minio = "github.com/minio/minio";
  return goProgram({ name: "minio", title: "MinIO", source: join(import.meta.dirname, "minio"), module: minio, package: minio });
}
