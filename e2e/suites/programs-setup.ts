// Before the integration tests: the programs that they start are there.
import { programsDirectory } from "../cluster/programs.ts";

export async function setup(): Promise<void> {
  await programsDirectory();
}
