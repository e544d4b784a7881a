// Archives that begin in place of others, on a real API server: by a person's order, and by a conflict. Each begins once. No node runs a Pod
// here; the test answers in place of the repository and of the primary.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import type { Cache } from "../../../runtime/cache/cache.ts";
import { Conflict } from "../../../runtime/kube/errors.ts";
import type { Key } from "../../../runtime/kube/object.ts";
import type { Resource } from "../../../runtime/kube/resource.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import type { Archived } from "../../desired/store.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import type { InstanceAnswer, RepositoryAnswer } from "../../repository/answers.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";
import { beginArchive } from "./new-archive.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const operators = { client: client.with({ fieldManager: "sampledb-sampledb" }) };
const name = "000000010000000000000007";
const system = "7300000000000000001"; // as the stage writes it in Patroni's place

beforeAll(() => installKinds(plane, client));

const config = (stage: DatabaseStage) => client.get(kinds.configMaps, stage.key("orders-repository"));
const generation = async (stage: DatabaseStage) => Number((await config(stage)).metadata.annotations?.["sampledb.io/archive-generation"]);
const stanza = async (stage: DatabaseStage, wanted: number) =>
  `${(await client.get(sampledbs, stage.key("orders"))).metadata.uid}-17-${wanted}`;
const notes = async (stage: DatabaseStage) =>
  (await client.list(kinds.events, { namespace: stage.namespace })).items.map(({ note }) => note ?? "");
const order = (stage: DatabaseStage, value: string | null) =>
  client.mergePatch(sampledbs, stage.key("orders"), { metadata: { annotations: { "sampledb.io/drop-archive": value } } });
const settled = (stage: DatabaseStage) =>
  eventually("the order is taken off", 60_000, async () => {
    const { annotations } = (await client.get(sampledbs, stage.key("orders"))).metadata;
    return annotations?.["sampledb.io/drop-archive"] === undefined;
  });
const letGo = async (stage: DatabaseStage) => (await client.get(kinds.configMaps, stage.key("orders-patroni"))).data?.["archive-let-go"];

const answer = (told: Partial<InstanceAnswer> = {}): InstanceAnswer => ({
  ...{ waiting: 3, newest: name, oldestSeconds: 3600, failure: null, sizeBytes: 10, availableBytes: 1 },
  ...told,
});
const answers = (stage: DatabaseStage, primary: InstanceAnswer, repository?: RepositoryAnswer) => {
  stage.archive = { primary: async () => primary, repository: repository && (async () => repository) };
};
const conflict = (of: string): RepositoryAnswer => ({
  stanza: of,
  archive: { failure: { name, reason: "ArchiveConflict", message: "another content", at: new Date().toISOString() } },
});

/** The Pod that takes segments in adds to this archive, and to no other. */
const repositoryIs = (stage: DatabaseStage, wanted: string) =>
  eventually(`the repository is for ${wanted}`, 30_000, async () => {
    const deployment = await client.get(kinds.deployments, stage.key("orders-repository"));
    const { data } = await config(stage);
    return (
      deployment.spec?.template.metadata?.annotations?.["sampledb.io/stanza"] === wanted &&
      JSON.parse(data?.["clients.json"] ?? "{}").stanza === wanted &&
      data?.["pgbackrest.conf"]?.includes(`[${wanted}]`)
    );
  });

async function open(namespace: string) {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  const operator = await stage.run();
  await stage.create({ backup: { repository: { volume: { size: "2Gi" } } } });
  await stage.serve("orders-0");
  await eventually("its repository is made", 30_000, () => client.find(kinds.deployments, stage.key("orders-repository")));
  return { stage, operator };
}

test("an order gives the archive up once: a new one begins, what waited is let go, and it is told since when nothing can be restored", async () => {
  const { stage, operator } = await open("dropped");
  await using _ = stage;
  answers(stage, answer());
  const former = await stanza(stage, 1);
  await order(stage, former);
  await settled(stage);
  await repositoryIs(stage, await stanza(stage, 2));
  await eventually("the instances are told", 30_000, async () => (await letGo(stage)) === `${system} ${name}\n`);
  const dropped = expect.stringMatching(new RegExp(`archive ${former} was given up.* can't be restored until a full backup is made`));
  await eventually("it is told", 30_000, async () => (await notes(stage)).some((note) => note.includes("was given up")));
  expect(await notes(stage)).toContainEqual(dropped);

  // The same order once more, as a `kubectl apply` of a manifest gives it. Later segments wait by now.
  answers(stage, answer({ newest: "000000010000000000000009" }));
  await order(stage, former);
  await settled(stage);
  expect(await generation(stage)).toBe(2);
  expect(await letGo(stage)).toBe(`${system} ${name}\n`);
  await stage.looks(operator, 61, 61);
  expect(await stage.condition("ArchivingHealthy")).toMatchObject({ status: "False", message: dropped });
});

test("an order that an operator noted before it was killed is carried out no second time, and the rest of it follows", async () => {
  const { stage, operator } = await open("killed");
  await using _ = stage;
  await operator.stop();
  const db = (await client.get(sampledbs, stage.key("orders"))) as Archived;
  const former = await stanza(stage, 1);
  await order(stage, former);
  const begun = { because: "Dropped", at: "2026-05-04T12:00:00Z", former, lostSince: "2026-05-04T10:00:00Z" } as const;
  const present = { db, config: await config(stage), notes: { generation: 1 }, stanza: former };
  await beginArchive(operators, present, { generation: 2, begun, letGo: { systemIdentifier: system, last: name } });
  answers(stage, answer({ newest: "000000010000000000000009" }));
  await stage.run();
  await settled(stage);
  await repositoryIs(stage, await stanza(stage, 2));
  await eventually("the instances are told", 30_000, async () => (await letGo(stage)) === `${system} ${name}\n`);
  expect(await notes(stage)).toContainEqual(expect.stringContaining("was given up at 2026-05-04T12:00:00Z"));
});

test("an archive does not begin by a decision from an older version of its notes", async () => {
  const { stage, operator } = await open("behind");
  await using _ = stage;
  await operator.stop();
  const db = (await client.get(sampledbs, stage.key("orders"))) as Archived;
  const present = { db, config: await config(stage), notes: { generation: 1 }, stanza: await stanza(stage, 1) };
  const begin = () => beginArchive(operators, present, { generation: 2 });
  await begin();
  await expect(begin()).rejects.toThrow(Conflict);
});

/** A view of the cluster in which the repository's ConfigMap is as it was. */
function behind(cache: Cache, former: kinds.ConfigMap): Cache {
  const configMaps = cache.watched(kinds.configMaps);
  const get = (key: Key) => (key.name === former.metadata.name ? former : configMaps.get(key));
  const watched = (resource: Resource) => (resource === kinds.configMaps ? { get } : cache.watched(resource));
  return { watched } as unknown as Cache;
}

test("a view that is behind brings no former archive back", async () => {
  const { stage, operator } = await open("lagging");
  await using _ = stage;
  const former = await config(stage);
  answers(stage, answer());
  await order(stage, await stanza(stage, 1));
  await settled(stage);
  await repositoryIs(stage, await stanza(stage, 2));
  const lagging = { ...operator, deps: { ...operator.deps, cache: behind(operator.deps.cache, former) } };
  await stage.again(lagging, operator.objects()).catch(() => undefined); // its status may meet that of the operator's own reconcile
  expect(await generation(stage)).toBe(2);
});

test.each([
  ["mere-yes", "true", {}, /the archive is .*-17-1, and not true/],
  ["stranger", "11111111-2222-3333-4444-555555555555-17-1", {}, /the archive is .*-17-1, and not 11111111/],
  ["nothing-waits", undefined, { waiting: 0, newest: null, oldestSeconds: 0 }, /nothing to let go/],
  ["on-its-way", undefined, { oldestSeconds: 20 }, /segments are being archived/],
] as const)("an order that can't be meant is dropped with an Event, and changes nothing: %s", async (namespace, value, told, why) => {
  const { stage } = await open(namespace);
  await using _ = stage;
  answers(stage, answer(told));
  await order(stage, value ?? (await stanza(stage, 1)));
  await settled(stage);
  await eventually("it is told", 30_000, async () =>
    (await notes(stage)).some((note) => why.test(note) && note.includes("the order is dropped")),
  );
  expect(await generation(stage)).toBe(1);
  expect(await letGo(stage)).toBeUndefined();
});

test("an order waits while the primary does not say what waits, with a blocker, and is carried out when it does", async () => {
  const { stage, operator } = await open("silent-primary");
  await using _ = stage;
  stage.archive = { repository: undefined, primary: () => Promise.reject(new Error("connection refused")) };
  await order(stage, await stanza(stage, 1));
  await eventually("it is told", 30_000, async () => {
    const { blockers = [] } = (await client.get(sampledbs, stage.key("orders"))).status ?? {};
    return blockers.some(({ reason, message }) => reason === "DropWaits" && message.includes("orders-0 does not say"));
  });
  expect(await generation(stage)).toBe(1);
  answers(stage, answer());
  await stage.looks(operator, 1);
  await settled(stage);
  expect(await generation(stage)).toBe(2);
});

test("a conflict begins a new archive once, and the next conflict no sooner than ten minutes later", async () => {
  const { stage, operator } = await open("conflict");
  await using _ = stage;
  const [first, second, third] = [await stanza(stage, 1), await stanza(stage, 2), await stanza(stage, 3)];
  answers(stage, answer({ waiting: 0 }), conflict(first));
  await stage.looks(operator, 61, 1);
  await repositoryIs(stage, second);
  await eventually("it is told", 30_000, async () => (await notes(stage)).some((note) => note.includes("another content under the name")));
  expect(await notes(stage)).toContainEqual(
    `archive ${first} has another content under the name ${name}: archive ${second} begins, and a full backup is due`,
  );

  // The former Pod may answer for some time, and another operator knows nothing of the first answer.
  await stage.looks(operator, 61, 61, 1);
  expect(await generation(stage)).toBe(2);
  answers(stage, answer({ waiting: 0 }), conflict(second));
  await stage.looks(operator, 61, 61, 1);
  expect(await generation(stage)).toBe(2);
  await operator.stop();
  const successor = await stage.run();
  await stage.looks(successor, 300, 61, 1);
  await repositoryIs(stage, third);
  expect(await letGo(stage)).toBeUndefined();
});
