// Each decision of the rotation, and three years of decisions with replicas and API servers that lag.
import { describe, expect, test } from "vitest";
import { carryOut, type Making } from "./carry-out.ts";
import { isIssuedBy, isValidAt, readCertificate, servesAs, splitBundle } from "./inspect.ts";
import { type CertifiedKey, createAuthority, issueCertificate } from "./issue.ts";
import { type Kept, planRotation, signingAuthority } from "./rotation.ts";

const hour = 3_600_000;
const day = 24 * hour;
const begin = new Date("2030-01-01T00:00:00Z");
const names = ["hook.ns.svc", "127.0.0.1"];
const settleMs = hour;
const making: Omit<Making, "now"> = {
  authorityName: "authority",
  leafName: "server",
  names,
  usages: ["server"],
  authorityLifetimeMs: 365 * day,
  leafLifetimeMs: 90 * day,
};
const dayAt = (days: number) => new Date(begin.getTime() + days * day);
const nothing: Kept = { bundle: "", authorityKey: "", formerKey: "", trustedSince: "", certificate: "", key: "" };
const authority = (days: number) => createAuthority({ commonName: "webhooks", lifetimeMs: 365 * day, now: dayAt(days) });
const leaf = (of: CertifiedKey, days: number) =>
  issueCertificate(of, {
    commonName: "w",
    dnsNames: ["hook.ns.svc"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetimeMs: 90 * day,
    now: dayAt(days),
  });

describe("the next step of a rotation", async () => {
  const old = await authority(0);
  const young = await authority(250);
  const stranger = await authority(0);
  const fresh = { bundle: old.certificate, authorityKey: old.key, formerKey: "", trustedSince: "", ...(await leaf(old, 0)) };
  const both = {
    bundle: young.certificate + old.certificate,
    authorityKey: young.key,
    formerKey: old.key,
    trustedSince: "",
    ...(await leaf(old, 249)),
  };
  const lastLeaf = { ...fresh, ...(await leaf(old, 364)) };
  const orphan = { ...both, formerKey: "" };
  const noted = { ...both, trustedSince: dayAt(251).toISOString() };
  const taken = { ...both, ...(await leaf(young, 251)) };
  const garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

  test.each<[string, number, Kept, readonly string[], string, RegExp?]>([
    ["nothing is there", 0, nothing, [], "first time"],
    ["all is well", 1, fresh, [old.certificate], "nothing"],
    ["the bundle is not published yet, which is no matter of the Secret", 1, fresh, [""], "nothing"],
    ["just over a third of the leaf's life is left", 59.5, fresh, [], "nothing"],
    ["less than a third of the leaf's life is left", 60.5, fresh, [], "new leaf", /expires at 2030-04-01/],
    ["the leaf has expired", 100, fresh, [], "new leaf", /valid from/],
    ["leaf and authority are due: the leaf goes first, while there is a key for it", 300, fresh, [], "new leaf"],
    ["the authority is due", 244, { ...fresh, ...(await leaf(old, 243)) }, [], "add authority", /expires at 2031-01-01/],
    ["a new authority is seen everywhere for the first time", 251, both, [both.bundle, both.bundle], "note trust"],
    ["a new authority was noted just now", 251.03, noted, [both.bundle, both.bundle], "nothing"],
    ["a new authority was noted a while ago", 251.05, noted, [both.bundle, both.bundle], "take over"],
    ["a new authority was noted, and a webhook has lost it since", 251.05, noted, [both.bundle, ""], "nothing"],
    ["the note can't be read", 251.05, { ...both, trustedSince: "garbage" }, [both.bundle], "note trust"],
    ["a new authority is missing in one webhook", 250.1, both, [both.bundle, old.certificate], "nothing"],
    ["a new authority is missing in a webhook without any", 250.1, both, ["", both.bundle], "nothing"],
    ["a leaf of the old authority is due, which still signs", 320, { ...both, ...(await leaf(old, 230)) }, [old.certificate], "new leaf"],
    ["a leaf of the old authority is due, and can't live longer than it", 320, { ...both, ...(await leaf(old, 310)) }, [], "note trust"],
    ["a leaf of the old authority is due, whose key is gone, and the new one still not trusted", 320, orphan, [old.certificate], "nothing"],
    ["leaf and authority end together, too soon for another leaf to help", 364.99, lastLeaf, [old.certificate], "add authority"],
    ["a leaf of the old authority has expired, the new one still not trusted", 340, both, [old.certificate], "new leaf"],
    ["no webhook is configured at all", 251.05, noted, [], "take over"],
    ["the old authority is still valid", 310, taken, [taken.bundle], "nothing"],
    ["the old authority has expired", 366, { ...taken, ...(await leaf(young, 330)) }, [taken.bundle], "drop authorities"],
    ["everything has expired", 900, taken, [taken.bundle], "make anew", /no authority that is valid/],
    ["the clock has gone back to before everything", -1, fresh, [], "make anew"],
    ["tls.key is garbage", 1, { ...fresh, key: "garbage" }, [], "new leaf", /tls.key does not fit/],
    ["tls.crt is garbage", 1, { ...fresh, certificate: garbage }, [], "new leaf", /tls.crt can't be read/],
    ["tls.* is of another authority", 1, { ...fresh, ...(await leaf(stranger, 0)) }, [], "new leaf", /none of the authorities/],
    [
      "ca.key is lost: the leaf goes on while a new authority comes",
      1,
      { ...fresh, authorityKey: "" },
      [],
      "add authority",
      /ca.key does not fit/,
    ],
    ["ca.key and the leaf are lost", 1, { ...fresh, authorityKey: "", key: stranger.key }, [], "make anew", /ca.key .*, and tls.key/],
    ["ca.crt is garbage", 1, { ...fresh, bundle: garbage }, [], "make anew", /ca.crt holds no authority/],
    ["ca.crt is a leaf", 1, { ...fresh, bundle: fresh.certificate }, [], "make anew", /ca.crt holds no authority/],
    ["ca.crt has garbage besides", 1, { ...fresh, bundle: fresh.bundle + garbage }, [], "drop authorities"],
  ])("when %s", (_, days, kept, trusted, action, reason = /./) => {
    const plan = planRotation({ kept, trusted, names, settleMs, now: dayAt(days) });
    expect(plan.action).toBe(action);
    if (plan.action !== "nothing") expect(plan.reason).toMatch(reason);
  });

  test.each<[string, Kept, readonly string[], string]>([
    ["the former authority still signs", noted, [both.bundle], "nothing"],
    ["its key is gone: the new one does not wait", { ...noted, formerKey: "" }, [both.bundle], "take over"],
  ])("with a settle time of a year, when %s", (_, kept, trusted, action) => {
    expect(planRotation({ kept, trusted, names, settleMs: 365 * day, now: dayAt(252) }).action).toBe(action);
  });

  test("a leaf that is lost while a new authority settles is issued by the authority that all trust", async () => {
    const lost = { ...both, certificate: "", key: "" };
    const plan = planRotation({ kept: lost, trusted: [old.certificate], names, settleMs, now: dayAt(252) });
    const made = await carryOut(plan, lost, { ...making, now: dayAt(252) });
    expect([plan.action, isTrusted(made.certificate, old.certificate, dayAt(252))]).toEqual(["new leaf", true]);
  });

  test("a new authority comes with a new leaf of the old one, which signs until the new one takes over", async () => {
    const added = await carryOut({ action: "add authority", reason: "" }, fresh, { ...making, now: dayAt(250) });
    expect(added.certificate).not.toBe(fresh.certificate);
    expect(isTrusted(added.certificate, old.certificate, dayAt(250))).toBe(true);
    expect(signingAuthority(added, dayAt(251))).toEqual(old);
    const taken = await carryOut({ action: "take over", reason: "" }, added, { ...making, now: dayAt(252) });
    expect(isTrusted(taken.certificate, old.certificate, dayAt(252))).toBe(false);
    expect(taken.formerKey).toBe("");
    expect(signingAuthority(taken, dayAt(252))).toEqual({ certificate: splitBundle(taken.bundle)[0], key: added.authorityKey });
  });

  test("is a new leaf when another name is needed", () => {
    const plan = planRotation({ kept: fresh, trusted: [], names: [...names, "other.ns.svc"], settleMs, now: dayAt(1) });
    expect(plan).toEqual({ action: "new leaf", reason: "tls.crt is not for other.ns.svc" });
  });
});

describe("three years of rotation", () => {
  test.each([
    ["published at once", () => true],
    // From day 240 on, when the first new authority is made.
    ["one webhook can't be written for three weeks", (days: number) => days < 240 || days > 261],
  ])(
    "%s: whatever leaf a replica serves, every bundle that an API server may use trusts it",
    { timeout: 60_000 },
    async (_, isWritable) => {
      const actions: string[] = [];
      let kept = nothing;
      let webhooks = ["", ""];
      // A replica or an API server may be one step behind.
      let lagging = { webhooks, certificate: "" };
      for (let days = 0; days < 3 * 365; days += recent(actions, days)) {
        const now = dayAt(days);
        const behind = { webhooks, certificate: kept.certificate };
        for (let plan = planRotation({ kept, trusted: webhooks, names, settleMs, now }); plan.action !== "nothing"; ) {
          actions.push(`${days.toFixed(2)} ${plan.action}`);
          kept = await carryOut(plan, kept, { ...making, now });
          plan = planRotation({ kept, trusted: webhooks, names, settleMs, now });
        }
        webhooks = [kept.bundle, isWritable(days) ? kept.bundle : (webhooks[1] ?? "")];
        for (const certificate of new Set([kept.certificate, lagging.certificate])) {
          for (const bundle of new Set([...webhooks, ...lagging.webhooks])) {
            if (bundle !== "" && certificate !== "") expect(isTrusted(certificate, bundle, now), `after ${days} days`).toBe(true);
          }
        }
        lagging = behind;
      }
      expect(count(actions, "first time")).toBe(1);
      expect(count(actions, "make anew")).toBe(0);
      expect(count(actions, "add authority")).toBe(4);
      expect(count(actions, "note trust")).toBe(4);
      expect(count(actions, "take over")).toBe(4);
      expect(count(actions, "drop authorities")).toBe(3);
      expect(count(actions, "new leaf")).toBeGreaterThan(10);
      expect(splitBundle(kept.bundle).length).toBeLessThanOrEqual(2);
    },
  );
});

/** Every two days, and every ten minutes for a while after a step. */
function recent(actions: readonly string[], days: number): number {
  return days - Number.parseFloat(actions.at(-1) ?? "0") < 0.1 ? 10 / (24 * 60) : 2;
}

function count(actions: readonly string[], action: string): number {
  return actions.filter((text) => text.endsWith(` ${action}`)).length;
}

function isTrusted(pem: string, bundle: string, now: Date): boolean {
  const certificate = readCertificate(pem);
  if (!certificate || !isValidAt(certificate, now) || !names.every((name) => servesAs(certificate, name))) return false;
  return splitBundle(bundle)
    .map(readCertificate)
    .some((authority) => authority !== undefined && isValidAt(authority, now) && isIssuedBy(certificate, authority));
}
