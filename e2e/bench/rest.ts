// What the operator costs with a thousand databases once all of them are as they should be.
import type { Figure } from "./figures.ts";
import { count, ManyDatabases } from "./many-databases.ts";

export async function atRest(): Promise<Figure[]> {
  await using databases = await ManyDatabases.start();
  const begin = performance.now();
  await databases.make();
  const seconds = (performance.now() - begin) / 1000;
  const noise = await databases.noise();
  return [
    { what: `${count} databases Ready, and the operator at rest`, unit: "s", ours: seconds },
    { what: "memory of the operator", unit: "MB", ours: databases.residentMegabytes, wanted: { most: 200 } },
    ...noise,
    ...(await databases.noOp()),
  ];
}
