// Two hundred schedules that are due in one minute, and two operators: none is lost and none is made twice. Only the step of schedules
// runs here: two hundred databases would take minutes to make.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { ControllerBuilder } from "../../../runtime/controller/builder.ts";
import { awaitChange } from "../../../runtime/controller/result.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { Manager } from "../../../runtime/manager.ts";
import { createLog } from "../../../runtime/observability/log.ts";
import { createMetrics } from "../../../runtime/observability/metrics.ts";
import { eventually } from "../../../tools/eventually.ts";
import { say } from "../../../tools/progress.ts";
import { backups, sampledbs } from "../../kinds/sampledb-io.ts";
import { declareWatches } from "../../watches.ts";
import type { Scope } from "../scope.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";
import { schedules } from "./schedules.ts";
import { overlooked } from "./sweep.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const count = 200;

beforeAll(() => installKinds(plane, client));

/** An operator whose one step is that of schedules. `sweep` is what node-cron calls each minute. */
async function start(namespace: string, now: () => Date) {
  const connection = new TestConnection(proxy.kubeconfig);
  const log = createLog({ level: "error", pretty: false, destination: { write: () => {} } });
  const manager = new Manager({
    ...{
      fieldManager: "sampledb",
      hashAnnotation: "sampledb.io/applied",
      reportingController: "sampledb.io/operator",
      reportingInstance: "test",
    },
    ...{ client: connection.client, namespaces: [namespace], elector: undefined, metrics: createMetrics({ processMetrics: false }), log },
  });
  const { cache, events } = manager;
  declareWatches(cache);
  let sweep = () => {};
  const definition = ControllerBuilder.for("sampledb", sampledbs, (change) => change.type === "added")
    .prompted((enqueue) => {
      sweep = () => overlooked(cache.watched(sampledbs).list(), now()).forEach(enqueue);
      return () => {};
    })
    .reconcile(
      async (request) => {
        const db = cache.watched(sampledbs).get(request.key);
        if (!db) return awaitChange;
        const findings: Pick<Scope["findings"], "schedules"> = { schedules: undefined };
        await schedules({ ...request, db, deps: { cache, events, now }, findings });
        await request.objects.applyStatus(sampledbs, db, { schedules: findings.schedules ?? [] });
        return awaitChange;
      },
      { maxConcurrentReconciles: 8 },
    );
  manager.add(definition);
  const end = new AbortController();
  const ended = manager.run(end.signal);
  await cache.synced();
  return {
    sweep: () => sweep(),
    stop: async () => {
      end.abort();
      await ended;
      await connection.transport.close();
    },
  };
}

test("two hundred schedules due in one minute make two hundred Backups, each once", { timeout: 240_000 }, async () => {
  await using stage = await DatabaseStage.open("many-slots", client, proxy);
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  const names = Array.from({ length: count }, (_, index) => `db-${index}`);
  const full = {
    schedules: [
      { name: "daily", schedule: "0 3 * * *" },
      { name: "hourly", schedule: "0 * * * *", type: "Incremental" as const },
    ],
  };
  await Promise.all(names.map((name) => stage.create({ backup: full }, name)));
  const operators = [await start(stage.namespace, now), await start(stage.namespace, now)];
  try {
    const told = async () =>
      (await client.list(sampledbs, { namespace: stage.namespace })).items.flatMap(({ status }) => status?.schedules ?? []);
    await eventually("all slots are told", 60_000, async () => (await told()).length === 2 * count);
    const slot = (await told()).find(({ name }) => name === "daily")?.nextScheduleTime ?? "";
    aheadMs = Date.parse(slot) - Date.now() + 5_000;
    const begin = performance.now();
    for (const { sweep } of operators) sweep();
    const made = async () => (await client.list(backups, { namespace: stage.namespace })).items;
    await eventually("all are made", 90_000, async () => (await made()).length >= count);
    say(`${count} slots: all made after ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    await eventually(
      "all are told",
      60_000,
      async () => (await told()).filter(({ lastScheduleTime }) => lastScheduleTime === slot).length === count,
    );
    const stamp = slot.replaceAll(/[^0-9]/g, "").slice(0, 12);
    expect((await made()).map(({ metadata }) => metadata.name).sort()).toEqual(names.map((name) => `${name}-daily-${stamp}`).sort());
    expect((await told()).filter(({ reason }) => reason === "SlotCovered")).toHaveLength(count);

    proxy.resetCounts();
    for (const { sweep } of operators) sweep();
    await new Promise((resolve) => setImmediate(resolve));
    expect(proxy.requests.filter(({ verb }) => verb !== "watch")).toEqual([]);
  } finally {
    await Promise.all(operators.map(({ stop }) => stop()));
  }
});
