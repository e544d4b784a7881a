// The order in which vitest starts test files: those that take longest first, so that no worker is left alone with a long one at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Longer than a minute on two cores, the longest first. vitest goes by the size of a file, and a small one may wait for a minute. */
const longest = [
  "e2e/suites/database-changes.e2e",
  "e2e/suites/database-faults.e2e",
  "sampledb/ending/lifecycle.integration",
  "runtime/controller/quiet.integration",
  "sampledb/orders/rotation.integration",
  "sampledb/foundation/storage.integration",
  "sampledb/refusals.integration",
  "sampledb/orders/replacement.integration",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((part) => moduleId.includes(part));
      return index < 0 ? longest.length : index;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
