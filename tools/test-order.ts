// The order in which vitest starts test files. By itself it starts large files first, and a small one may take longest.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those named here come first, in this order; vitest orders the rest. */
const order = [
  // About a minute or longer on two cores, the longest first: no worker is left alone with one of them at the end.
  "operator/in-place.integration",
  "sampledb/ending/lifecycle.integration",
  "images/postgres/restore.integration",
  "operator/retention.integration",
  "operator/backups.integration",
  "sampledb/foundation/storage.integration",
  "images/postgres/backup.integration",
  "operator/snapshot.integration",
  "sampledb/refusals.integration",
  "operator/snapshot-killed.integration",
  "sampledb/orders/rotation.integration",
  "operator/restore-killed.integration",
  "operator/retention-kills.integration",
  "operator/restores.integration",
  "sampledb/archive/enabling.integration",
  "operator/operator.integration",
  "sampledb/orders/replacement.integration",
  "images/postgres/backup-refusals.integration",
  "images/postgres/backup-bucket.integration",
  "runtime/controller/quiet.integration",
  "operator/deletion-guards.integration",
  "operator/bare-restores.integration",
  "images/postgres/take-writes.integration",
  "sampledb/foundation/children.integration",
  "api/install.integration",
  // This one measures outages in seconds, and keeps one cluster busy for as long as the small ones keep the other. The three that need most
  // of the machine come after it.
  "e2e/suites/database-faults.e2e",
  "e2e/suites/operator.e2e",
  "e2e/suites/deploy.e2e",
  "e2e/suites/database-metrics.e2e",
  "e2e/suites/postgres.e2e",
  "e2e/suites/cluster.e2e",
  "e2e/suites/settings.e2e",
  "e2e/suites/backups.e2e",
  "e2e/suites/in-place.e2e",
  "e2e/suites/archive.e2e",
  "e2e/suites/database-changes.e2e",
  "e2e/suites/database-instances.e2e",
];

export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = order.findIndex((part) => moduleId.includes(part));
      return index < 0 ? order.length : index;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
