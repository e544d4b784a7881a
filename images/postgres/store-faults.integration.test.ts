// What the words of pgBackRest 2.55.1 mean, as it printed them, and that no secret is told.
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { run } from "../../tools/command.ts";

const http = (answer: string, content = "") =>
  `ERROR: [039]: HTTP request failed with ${answer}:\n       *** Path/Query ***:\n       PUT /b/p/sampledb-probe\n       *** Response Content ***:\n       ${content}`;
const unreadable = "unable to load info file '/r/archive/st1/archive.info' or '/r/archive/st1/archive.info.copy'";

const cases: readonly [string, string, { reason: string; message: string | RegExp; stanzaMissing?: true }][] = [
  [
    "another content under the same name",
    "ERROR: [045]: WAL file '000000010000000000000001' already exists in the repo1 archive with a different checksum",
    { reason: "ArchiveConflict", message: /^WAL file '000000010000000000000001' already exists/ },
  ],
  [
    "no stanza yet",
    `ERROR: [103]: unable to find a valid repository:\n repo1: [FileMissingError] ${unreadable}:\n HINT: has a stanza-create been performed?`,
    { reason: "StoreFailed", message: /^unable to find a valid repository: repo1: \[FileMissingError\] [^H]*$/, stanzaMissing: true },
  ],
  [
    "a full volume",
    "ERROR: [104]: archive-push command encountered error(s):\n  repo1: [FileWriteError] unable to write '/r/x': [28] No space left on device",
    { reason: "RepositoryFull", message: /No space left on device$/ },
  ],
  [
    "a full store",
    "ERROR: [101]: [507] Insufficient Storage\n           [ServiceError] on 7 retries from 103-5005ms: [507] Insufficient Storage",
    { reason: "RepositoryFull", message: "[507] Insufficient Storage" },
  ],
  [
    "a store with an error of its own",
    "ERROR: [101]: [500] Internal Server Error\n           [ServiceError] on 7 retries from 103-5002ms: [500] Internal Server Error",
    { reason: "StoreFailed", message: "[500] Internal Server Error" },
  ],
  [
    "cut in the middle",
    "ERROR: [101]: TLS error [1:167772454] unexpected eof while reading",
    { reason: "StoreUnreachable", message: /unexpected eof/ },
  ],
  [
    "denied by the store",
    http("403 (Forbidden)", "<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>"),
    { reason: "StoreDenied", message: "HTTP request failed with 403 (Forbidden): AccessDenied: Access Denied." },
  ],
  ["denied without a word", http("403 (Forbidden)"), { reason: "StoreDenied", message: "HTTP request failed with 403 (Forbidden)" }],
  [
    "no such bucket",
    http("404 (Not Found)", "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>"),
    { reason: "BucketMissing", message: /NoSuchBucket: The specified bucket does not exist$/ },
  ],
  [
    "another region",
    http(
      "400 (Bad Request)",
      "<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong; expecting 'eu-west-1'.</Message></Error>",
    ),
    { reason: "WrongRegion", message: /expecting 'eu-west-1'/ },
  ],
  [
    "redirected to another region",
    http("301 (Moved Permanently)"),
    { reason: "WrongRegion", message: "HTTP request failed with 301 (Moved Permanently)" },
  ],
  [
    "an authority that is not ours",
    "ERROR: [095]: unable to verify certificate presented by 's3:443': [20] unable to get local issuer certificate",
    { reason: "StoreUntrusted", message: /^unable to verify certificate/ },
  ],
  ["refused", "ERROR: [049]: unable to connect to 's3:443': [111] Connection refused", { reason: "StoreUnreachable", message: /refused$/ }],
  [
    "without an address",
    "ERROR: [049]: unable to get address for 's3': [-2] Name or service not known",
    { reason: "StoreUnreachable", message: /'s3'/ },
  ],
  ["silent", "ERROR: [042]: timeout after 5000ms waiting for read from 's3:443'", { reason: "StoreUnreachable", message: /^timeout/ }],
  [
    "deciphered by another passphrase",
    `ERROR: [103]: unable to find a valid repository:\n repo1: [FormatError] ${unreadable}:\n FormatError: key/value found outside of section at line 1: \u0001\u0002`,
    { reason: "WrongPassphrase", message: "the repository can't be read with this passphrase, or is not encrypted as asked" },
  ],
  ["not encrypted", "ERROR: [095]: cipher header invalid", { reason: "WrongPassphrase", message: /passphrase/ }],
  [
    "anything else",
    "ERROR: [047]: unable to create path '/r/x': [13] Permission denied",
    { reason: "StoreFailed", message: /Permission denied$/ },
  ],
];

const secrets = ["AKIAKEY", "AKIAKEYLONGER", "s3cr3t/+="];
const withSecrets = `denied for AKIAKEYLONGER and AKIAKEY\n\u0007 by s3cr3t/+= ${"x".repeat(600)} s3cr3t/+=`;

const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
import store_faults as faults
texts, secrets, told = json.loads(sys.argv[2])
found = [[faults.reason_of(text), faults.tellable(faults.words_of(text), []), faults.is_stanza_missing(text)] for text in texts]
print(json.dumps([found, faults.tellable(told, secrets)]))
`;

let found: [string, string, boolean][];
let told: string;

beforeAll(async () => {
  const input = JSON.stringify([cases.map(([, text]) => text), secrets, withSecrets]);
  [found, told] = JSON.parse(await run("python3", ["-ISBc", program, join(import.meta.dirname), input]));
});

test.each(cases.map(([name, , expected], index) => ({ name, expected, index })))("reason of a fault: $name", ({ expected, index }) => {
  const [reason, message, stanzaMissing] = found[index] ?? [];
  expect({ reason, stanzaMissing }).toEqual({ reason: expected.reason, stanzaMissing: expected.stanzaMissing ?? false });
  expect(message).toEqual(typeof expected.message === "string" ? expected.message : expect.stringMatching(expected.message));
});

test("a message is one line of bounded length, without secrets", () => {
  expect(told.slice(0, 24)).toBe("denied for … and … by … ");
  expect(told.length).toBeLessThanOrEqual(500);
  expect(told).not.toMatch(/AKIA|s3cr3t/);
});
