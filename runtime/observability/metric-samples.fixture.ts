// Parses metrics, for tests.
import type { Metrics } from "./metrics.ts";

/** The samples by name and labels, without the buckets of histograms. */
export async function samples(metrics: Pick<Metrics, "text">): Promise<Record<string, number>> {
  const lines = (await metrics.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#") && !line.includes("_bucket{"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}
