// The surface of the intake: who may ask for what, what a slow or absent client can do, and what /status tells.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { type Client, Repository } from "./repository.fixture.ts";

const segment = Buffer.alloc(16 * 1024 * 1024);
const name = "000000010000000000000003";

let repository: Repository;

beforeAll(async () => {
  repository = await Repository.make();
  await repository.serve({ SECONDS_FOR_A_HANDSHAKE: "2", SECONDS_FOR_A_PUSH: "1" });
});
afterAll(() => repository?.stop());
beforeEach(() => {
  repository.begin("uid-17-1");
  repository.configure(`repo1-path=${repository.path("store")}`);
  repository.pgBackRest("");
});

const small = Buffer.from("1\t0/3000000\tno recovery target specified\n");
const requests: readonly [Client, string, string, Buffer | undefined, number][] = [
  ["server", "PUT", `/wal/${name}`, segment, 204],
  ["server", "PUT", `/wal/${name}.partial`, segment, 204],
  ["server", "PUT", `/wal/${name}.00000028.backup`, small, 204],
  ["server", "PUT", "/wal/00000002.history", small, 204],
  ["server", "PUT", "/pg_control", Buffer.alloc(8192), 204],
  ["operator", "GET", "/status", undefined, 200],
  ["server", "PUT", `/wal/${name}`, small, 413],
  ["server", "PUT", "/wal/00000002.history", Buffer.alloc(65537), 413],
  ["server", "PUT", "/wal/00000002.history", Buffer.alloc(0), 413],
  ["server", "PUT", "/pg_control", Buffer.alloc(8191), 413],
  ["server", "PUT", "/wal/00000002.history", undefined, 411],
  ["server", "GET", `/wal/${name}`, undefined, 405],
  ["server", "DELETE", `/wal/${name}`, undefined, 405],
  ["server", "DELETE", "/wal/00000002.history", undefined, 405],
  ["server", "POST", "/pg_control", small, 405],
  ["server", "GET", "/wal/", undefined, 404],
  ["server", "GET", "/", undefined, 404],
  ["server", "PUT", "/wal/../../etc/passwd", small, 404],
  ["server", "PUT", "/wal/%2e%2e/x.history", small, 404],
  ["server", "PUT", "/wal/--config=x.history", small, 404],
  ["server", "PUT", "/wal/0000000100000000000000zz", segment, 404],
  ["server", "PUT", "/wal/archive.info", small, 404],
  ["server", "GET", "/status", undefined, 403],
  ["operator", "PUT", `/wal/${name}`, segment, 403],
  ["operator", "PUT", "/pg_control", Buffer.alloc(8192), 403],
  ["operator", "GET", "/wal/00000002.history", undefined, 403],
  ["stranger", "GET", "/status", undefined, 403],
  ["stranger", "PUT", `/wal/${name}`, segment, 403],
];

test.each(requests.map(([client, method, path, body, status]) => ({ client, method, path, body, size: body?.length, status })))(
  "the intake answers $status to $method $path of $size bytes by $client",
  async ({ client, method, path, body, status }) => {
    const headers = method === "PUT" && body === undefined ? { "transfer-encoding": "chunked" } : {};
    expect(await repository.ask(client, method, path, body, headers)).toMatchObject({ status });
    if (status >= 400) expect(repository.calls).toEqual([]);
  },
);

test("a client without a certificate gets no answer", async () => {
  await expect(repository.ask(undefined, "GET", "/status")).rejects.toThrow();
});

const stanzaMissing = "echo \"ERROR: [103]: [FileMissingError] unable to load info file '/r/archive/uid-17-1/archive.info'\" >&2; exit 103";

test("without a stanza a push is answered by 428, and is no failure", async () => {
  await repository.ask("server", "PUT", `/wal/${name}`, segment);
  repository.pgBackRest(`[ "$1" != archive-push ] || { ${stanzaMissing}; }`);
  expect(await repository.ask("server", "PUT", `/wal/${name}`, segment)).toMatchObject({ status: 428 });
  expect((await repository.status()).archive).not.toHaveProperty("failure");
});

test("pg_control reaches pgBackRest as the directory of a stopped server", async () => {
  repository.pgBackRest('cp "${3#--pg1-path=}/global/pg_control" control');
  const control = Buffer.from("control".padEnd(8192));
  expect(await repository.ask("server", "PUT", "/pg_control", control)).toMatchObject({ status: 204 });
  expect(repository.calls).toEqual([expect.stringMatching(/^stanza-create --no-online --pg1-path=/)]);
  expect(readFileSync(repository.path("control"))).toEqual(control);
});

const withHistory = `case "$*" in
"repo-ls archive/second") echo 17-1 ;;
repo-ls*) ls | grep history ;;
repo-get*) cat 00000002.history ;;
esac
true`;

test("a history is read from the archive, never overwritten, and taken once more with the same content", async () => {
  writeFileSync(repository.path("00000002.history"), small);
  repository.pgBackRest(withHistory);
  repository.begin("second");
  expect(await repository.ask("server", "GET", "/wal/00000003.history")).toMatchObject({ status: 404 });
  expect(await repository.ask("server", "GET", "/wal/00000002.history")).toEqual({ status: 200, body: small.toString().trim() });
  expect(await repository.ask("server", "PUT", "/wal/00000002.history", small)).toMatchObject({ status: 204 });
  expect(await repository.ask("server", "PUT", "/wal/00000002.history", Buffer.from("another"))).toMatchObject({ status: 409 });
  expect(repository.calls.filter((call) => call.startsWith("archive-push"))).toEqual([]);
});

test("histories are known while the store is away: what was listed, and what an instance has begun since", async () => {
  repository.pgBackRest(withHistory);
  repository.begin("second");
  await repository.ask("server", "GET", "/wal/00000002.history");
  repository.pgBackRest("exit 1");
  const next = Buffer.from("of the next timeline");
  expect(await repository.ask("server", "PUT", "/wal/00000003.history", next)).toMatchObject({ status: 503 });
  expect(await repository.ask("server", "GET", "/wal/00000002.history")).toMatchObject({ status: 200 });
  expect(await repository.ask("server", "GET", "/wal/00000003.history")).toEqual({ status: 200, body: next.toString() });
  expect(await repository.ask("server", "GET", "/wal/00000004.history")).toMatchObject({ status: 404 });
  expect(repository.calls.filter((call) => call.startsWith("repo-"))).toEqual([]);
});

const conflicts = 'echo "ERROR: [045]: WAL file already exists in the repo1 archive with a different checksum" >&2; exit 45';

test("/status tells the last segment, and a failure until the next success", async () => {
  repository.pgBackRest(conflicts);
  expect(await repository.ask("server", "PUT", `/wal/${name}`, segment)).toMatchObject({ status: 409 });
  expect((await repository.status()).archive.failure).toMatchObject({ name, reason: "ArchiveConflict", at: expect.stringMatching(/Z$/) });
  repository.pgBackRest("");
  await repository.ask("server", "PUT", `/wal/${name}`, segment);
  const { stanza, archive, space } = await repository.status();
  expect({ stanza, archive }).toEqual({ stanza: "uid-17-1", archive: { last: { name, at: expect.any(String) } } });
  expect(space.availableBytes).toBeLessThan(space.sizeBytes);
});

test("a push that finds the store otherwise than the last probe brings the next probe on", async () => {
  const probe = (ok: boolean) => eventually(`the probe says ${ok}`, 20_000, async () => (await repository.status()).probe?.ok === ok);
  const works = 'case "$*" in repo-put*) cat > probe ;; repo-get*sampledb-probe) cat probe ;; *archive.info) exit 1 ;; esac';
  repository.pgBackRest(works);
  expect(await repository.ask("server", "PUT", `/wal/${name}`, segment)).toMatchObject({ status: 204 });
  await probe(true); // the next one would come in a minute
  repository.pgBackRest("exit 1");
  expect(await repository.ask("server", "PUT", `/wal/${name}`, segment)).toMatchObject({ status: 503 });
  await probe(false);
  repository.pgBackRest(works);
  expect(await repository.ask("server", "PUT", `/wal/${name}`, segment)).toMatchObject({ status: 204 });
  await probe(true);
});

test("/status tells a conflict also after other failures, and of the present archive only", async () => {
  repository.pgBackRest(conflicts);
  await repository.ask("server", "PUT", `/wal/${name}`, segment);
  repository.pgBackRest("exit 1");
  await repository.ask("server", "PUT", "/wal/000000010000000000000004", segment);
  expect((await repository.status()).archive.failure).toMatchObject({ name, reason: "ArchiveConflict" });
  repository.begin("uid-17-2");
  expect((await repository.status()).archive).toEqual({});
  await repository.ask("server", "PUT", "/wal/000000010000000000000004", segment);
  expect((await repository.status()).archive.failure).toMatchObject({ name: "000000010000000000000004", reason: "StoreFailed" });
  repository.pgBackRest("");
  await repository.ask("server", "PUT", "/wal/000000010000000000000004", segment);
  expect((await repository.status()).archive).toEqual({ last: { name: "000000010000000000000004", at: expect.any(String) } });
});

test("a push that lasts brings the next probe on before it has failed", async () => {
  const patient = await Repository.make();
  patient.pgBackRest('case "$*" in repo-put*) cat > probe ;; repo-get*sampledb-probe) cat probe ;; *archive.info) exit 1 ;; esac');
  await patient.serve({ SECONDS_UNTIL_DOUBT: "1" });
  const probe = (ok: boolean) => eventually(`the probe says ${ok}`, 20_000, async () => (await patient.status()).probe?.ok === ok);
  await probe(true);
  patient.pgBackRest('[ "$1" != archive-push ] || sleep 60 & wait; exit 1');
  const push = patient.ask("server", "PUT", `/wal/${name}`, segment).catch(() => {});
  await probe(false);
  expect((await patient.status()).archive).toEqual({});
  patient.stop();
  await push;
});

test.each([
  ["", /^CredentialsMissing: store\/ca\.crt is missing or empty/],
  ["the certificate follows by mail", /^CredentialsMissing: store\/ca\.crt is no certificate in PEM/],
])("an authority that is «%s» is named", async (text, words) => {
  repository.begin("authority");
  mkdirSync(repository.path("mounted/store"), { recursive: true });
  writeFileSync(repository.path("mounted/store/ca.crt"), text);
  repository.configure(`repo1-path=${repository.path("store")}`, `repo1-storage-ca-file=${repository.path("mounted/store/ca.crt")}`);
  expect(await repository.ask("server", "PUT", "/wal/00000007.history", small)).toEqual({
    status: 503,
    body: expect.stringMatching(words),
  });
});

test("the keys go to pgBackRest by a file that only it can read, and into no message", async () => {
  repository.begin("keys");
  repository.configure("repo1-type=s3", "repo1-s3-endpoint=https://127.0.0.1:1", "repo1-cipher-type=aes-256-cbc");
  const refused = await repository.ask("server", "PUT", "/wal/00000007.history", small);
  expect(refused).toEqual({ status: 503, body: expect.stringMatching(/^CredentialsMissing: store\/accessKeyId can't be read/) });
  for (const [file, value] of Object.entries({
    "store/accessKeyId": "AKIAID",
    "store/secretAccessKey": "s3cr3t\n",
    "encryption/passphrase": "pass\nphrase",
  })) {
    mkdirSync(repository.path("mounted", file.split("/")[0] as string), { recursive: true });
    writeFileSync(repository.path("mounted", file), value);
  }
  expect((await repository.ask("server", "PUT", "/wal/00000007.history", small)).body).toMatch(
    /^CredentialsMissing: encryption\/passphrase has a line break/,
  );
  writeFileSync(repository.path("mounted/encryption/passphrase"), "pass = phrase");
  repository.pgBackRest('cp "$PGBACKREST_CONFIG_INCLUDE_PATH/secrets.conf" .; echo "ERROR: no: AKIAID s3cr3t pass = phrase" >&2; exit 1');
  expect(await repository.ask("server", "PUT", "/wal/00000007.history", small)).toEqual({ status: 503, body: "StoreFailed: no: … … …" });
  expect(readFileSync(repository.path("secrets.conf"), "utf8").split("\n")).toEqual([
    "[global]",
    "repo1-s3-key=AKIAID",
    "repo1-s3-key-secret=s3cr3t",
    "repo1-cipher-pass=pass = phrase",
    "",
  ]);
  writeFileSync(repository.path("mounted/store/secretAccessKey"), "rotated");
  await repository.ask("server", "PUT", "/wal/00000007.history", small);
  expect(readFileSync(repository.path("secrets.conf"), "utf8")).toContain("repo1-s3-key-secret=rotated");
});

test("a store that does not answer is given up, and nothing is left behind", async () => {
  repository.pgBackRest("sleep 60 & wait");
  const answer = await repository.ask("server", "PUT", `/wal/${name}`, segment);
  expect(answer).toEqual({ status: 503, body: "StoreFailed: the store has not answered within 1 s" });
  expect(readdirSync(repository.path("work"))).toEqual([]);
});

test("a push goes on when its client has given up, and the next one of that name waits for it", async () => {
  repository.pgBackRest('[ "$1" != archive-push ] || { sleep 0.3; echo done >> calls; }');
  const asked = request({
    ...repository.connection("server"),
    method: "PUT",
    path: `/wal/${name}`,
    headers: { "content-length": segment.length },
  });
  asked.on("error", () => {});
  asked.end(segment, () => setTimeout(() => asked.destroy(), 50));
  while (!repository.calls.some((call) => call.startsWith("archive-push"))) await sleep(10);
  expect(await repository.ask("server", "PUT", `/wal/${name}`, segment)).toMatchObject({ status: 204 });
  expect(repository.calls.map((call) => call.split(" ")[0])).toEqual(["archive-push", "done", "archive-push", "done"]);
});

test("clients that say nothing, in whatever number, hold the others up for no longer than the deadline", async () => {
  const silent = Array.from({ length: 20 }, () => connect(repository.port, "127.0.0.1").on("error", () => {}));
  const slow = connectTls(repository.connection("operator"), () => slow.write("GET /sta"));
  slow.on("error", () => {});
  const began = performance.now();
  expect(await repository.ask("operator", "GET", "/status")).toMatchObject({ status: 200 });
  expect(performance.now() - began).toBeLessThan(10_000);
  for (const each of [...silent, slow]) each.destroy();
});

/** The serial number of the certificate that is served. */
async function served(): Promise<string> {
  return await new Promise((resolve, reject) => {
    const connection = connectTls(repository.connection("operator"), () => {
      resolve(connection.getPeerCertificate().serialNumber);
      connection.destroy();
    });
    connection.on("error", reject);
  });
}

test("a new certificate is served without a restart, and one that does not fit its key is not taken up", async () => {
  const first = await served();
  const key = readFileSync(repository.path("mounted/tls/tls.key"));
  const { key: newKey } = await repository.renewCertificate();
  writeFileSync(repository.path("mounted/tls/tls.key"), key);
  expect(await served()).toBe(first);
  writeFileSync(repository.path("mounted/tls/tls.key"), newKey);
  expect(await served()).not.toBe(first);
});

test("a second program on the same volume does not write", async () => {
  const second = await Repository.make();
  second.configure(`repo1-path=${repository.path("store")}`);
  await second.serve();
  const answer = await second.ask("server", "PUT", `/wal/${name}`, segment);
  second.stop();
  expect(answer).toEqual({ status: 503, body: "StoreFailed: another Pod still works on this volume" });
  expect(existsSync(repository.path("store/repository.lock"))).toBe(true);
});
