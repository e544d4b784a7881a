// For tests: a SampleDB as the API server would hand it out, with the defaults of its schema.
import type * as z from "zod";
import { sampleDBSpec } from "../../api/sampledb.ts";
import { apiVersion } from "../../api/version.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";

type SpecInput = Partial<z.input<typeof sampleDBSpec>>;

export function sampleDB(spec: SpecInput = {}, { name = "orders", ...rest }: Partial<SampleDB["metadata"]> = {}): SampleDB {
  const parsed = sampleDBSpec.parse({ postgresVersion: 17, storage: { size: "1Gi" }, ...spec });
  const metadata = { name, namespace: "shop", uid: `uid-of-${name}`, generation: 1, ...rest };
  return { apiVersion, kind: "SampleDB", metadata, spec: parsed };
}
