// Certificates in a directory that others write: as the kubelet does, as a careless script does, and without file events.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type CertifiedKey, createAuthority, issueCertificate } from "../certificates/issue.ts";
import { FakeClock } from "../fake-clock.fixture.ts";
import { createLog } from "../observability/log.ts";
import { KubeletMount } from "./kubelet-mount.fixture.ts";
import { type MountedCertificates, type MountedOptions, watchMountedCertificates } from "./mounted-certificates.ts";

const hour = 3_600_000;
const now = new Date();
const authority = await createAuthority({ commonName: "ca", lifetimeMs: hour, now });
const make = () => issueCertificate(authority, { commonName: "w", dnsNames: ["w"], usages: ["server"], lifetimeMs: hour, now });
const [first, second, third] = await Promise.all([make(), make(), make()]);

let directory: string;
let mounted: MountedCertificates | undefined;
let lines: string[];
let taken: CertifiedKey[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "mounted-"));
  lines = [];
  taken = [];
});

afterEach(() => {
  mounted?.stop();
  mounted = undefined;
  rmSync(directory, { recursive: true });
});

function start(options: Partial<MountedOptions> = {}): MountedCertificates {
  const log = createLog({ level: "info", destination: { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) } });
  mounted = watchMountedCertificates({ directory, onChange: (pair) => taken.push(pair), log, ...options });
  return mounted;
}

function write(pair: Partial<CertifiedKey>, names = { certificate: "tls.crt", key: "tls.key" }): void {
  if (pair.certificate !== undefined) writeFileSync(join(directory, names.certificate), pair.certificate);
  if (pair.key !== undefined) writeFileSync(join(directory, names.key), pair.key);
}

test("a swap by the kubelet is noticed, and the former version may go", async () => {
  const mount = new KubeletMount(first);
  try {
    expect(start({ directory: mount.directory }).current).toEqual(first);
    mount.swap(second);
    await vi.waitFor(() => expect(mounted?.current).toEqual(second), 3000);
    mount.swap(third);
    await vi.waitFor(() => expect(mounted?.current).toEqual(third), 3000);
    expect(taken).toEqual([second, third]);
    expect(lines).toEqual(Array(2).fill(expect.stringMatching(/has been replaced; this one expires at 2/)));
  } finally {
    mount.remove();
  }
});

test("half of a pair is not used until the other half is there", async () => {
  write(first);
  start();
  write({ certificate: second.certificate });
  await vi.waitFor(() => expect(lines).toHaveLength(1), 3000);
  expect(lines[0]).toMatch(/stays as it is: tls.key in .* does not fit tls.crt/);
  expect(mounted?.current).toEqual(first);
  write({ key: second.key });
  await vi.waitFor(() => expect(taken).toEqual([second]), 3000);
});

test("a pair that the server refuses is not used, and the former one stays", async () => {
  write(first);
  start({
    onChange: () => {
      throw new Error("ee key too small");
    },
  });
  write(second);
  await vi.waitFor(() => expect(lines.at(-1)).toMatch(/the new one is refused: ee key too small/), 3000);
  expect(mounted?.current).toEqual(first);
});

test("the file names of OLM are known", () => {
  write(first, { certificate: "apiserver.crt", key: "apiserver.key" });
  expect(start().current).toEqual(first);
});

test("watching a directory without a pair fails", () => {
  expect(() => start()).toThrow(/has neither tls.crt and tls.key nor apiserver.crt and apiserver.key/);
  write({ certificate: first.certificate, key: second.key });
  expect(() => start()).toThrow(/does not fit/);
});

test("a change without file events is found by polling, once, and not after the stop", async () => {
  // A watch of the directory does not report changes in a subdirectory.
  mkdirSync(join(directory, "below"));
  for (const name of ["tls.crt", "tls.key"]) symlinkSync(join("below", name), join(directory, name));
  const below = { certificate: "below/tls.crt", key: "below/tls.key" };
  write(first, below);
  const clock = new FakeClock();
  start({ clock, pollMs: 60_000 });
  write(second, below);
  await sleep(50);
  await clock.advance(59_000);
  expect(taken).toEqual([]);
  await clock.advance(120_000);
  expect(taken).toEqual([second]);
  mounted?.stop();
  expect(clock.armed).toBe(0);
});
