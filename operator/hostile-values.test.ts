// No value of a spec, of an admission request or of a URL takes more time than its length explains. The checks are asked directly here,
// without the bounds that stand before them in the webhook and the reconciler.
import { expect, test } from "vitest";
import { hba } from "../api/checks/hba.ts";
import { annotations, labelKey, labelKeys, labelValue, namespace, notOurs } from "../api/checks/names.ts";
import { parameters } from "../api/checks/parameters.ts";
import { placement, topologySpread } from "../api/checks/placement.ts";
import { resources } from "../api/checks/resources.ts";
import { nextRun, schedule } from "../api/checks/schedule.ts";
import { describeViolations } from "../api/checks/violation.ts";
import { valueFault } from "../api/postgresql/setting-value.ts";
import { type Setting, settingsOf } from "../api/postgresql/settings.ts";
import { parseQuantity } from "../kubernetes/quantity.ts";
import { describeError } from "../runtime/observability/describe-error.ts";
import { excessiveGrowth } from "./growth.fixture.ts";

const setting = (name: string): Setting => {
  const found = settingsOf(17).get(name);
  if (!found) throw new Error(`PostgreSQL 17 has no setting ${name}`);
  return found;
};

/** Everything that is asked about one text. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  "an integer setting": (text) => valueFault(setting("work_mem"), text),
  "a real setting": (text) => valueFault(setting("seq_page_cost"), text),
  "a boolean setting": (text) => valueFault(setting("autovacuum"), text),
  "an enum setting": (text) => valueFault(setting("default_transaction_isolation"), text),
  "a string setting": (text) => valueFault(setting("search_path"), text),
  "a setting's name": (text) => [...parameters({ [text]: 1 }, 17, "p")],
  "reserved connections": (text) => [...parameters({ max_connections: text, reserved_connections: text }, 17, "p")],
  "a line of hba": (text) => [...hba(text, "hba")],
  "a database of hba": (text) => [...hba(`host ${text} all all md5`, "hba")],
  "an address of hba": (text) => [...hba(`host all all ${text} md5`, "hba")],
  "an option of hba": (text) => [...hba(`hostssl all all all ldap ${text}`, "hba")],
  "a schedule": (text) => [...schedule({ schedule: text }, "s")],
  "a minute of a schedule": (text) => [...schedule({ schedule: `${text} 3 * * *` }, "s")],
  "the next run of a schedule": (text) => nextRun(`0 3 ${text} 2 *`, undefined, new Date(0)),
  "a time zone": (text) => [...schedule({ schedule: "@daily", timeZone: text }, "s")],
  "a label's key": (text) => [...labelKey(text, "k")],
  "a label's value": (text) => [...labelValue(text, "v")],
  "a key of labels": (text) => [...labelKeys({ [text]: "" }, "l")],
  "a key of annotations": (text) => [...annotations({ [text]: text }, "a"), ...notOurs({ [text]: text }, "a")],
  "a namespace's name": (text) => [...namespace(text, "n")],
  "a quantity": (text) => parseQuantity(text),
  "a resource": (text) => [...resources({ requests: { [text]: text, [`hugepages-${text}`]: text } }, "r")],
  "a quantity of a resource": (text) => [...resources({ requests: { memory: text }, limits: { memory: text } }, "r")],
  "a selector's value": (text) => [...placement({ affinity: nodeAffinity({ key: "a", operator: "Gt", values: [text] }) }, "p")],
  "an error's message": (text) => describeError(new Error(text)),
};

function nodeAffinity(expression: { key: string; operator: "Gt" | "In"; values: string[] }) {
  const nodeSelectorTerms = [{ matchExpressions: [expression] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

/** What the patterns and loops of the checks look for, and pairs between which one of them could waver. */
const repeated = [..." \t1a-._/,*@#:+=e%", "1 ", " a", "1.", "a.", "a-", "a/", ",1", "1-", "\u00a0", "é", "😀", ', "', ' "'];
const before = ["", "1", "a", '"', "local all all "];
const after = ["", "!", "\n"];
const length = 1 << 15;

test.each(Object.entries(readers))(
  "%s",
  (_, read) => {
    const slow: string[] = [];
    for (const piece of repeated) {
      for (const front of before) {
        for (const end of after) {
          const growth = excessiveGrowth(length, (count) => read(`${front}${piece.repeat(count / piece.length)}${end}`));
          if (growth !== undefined) slow.push(`${JSON.stringify([front, piece, end])}: ${growth}`);
        }
      }
      if (slow.length > 0) break;
    }
    expect(slow).toEqual([]);
  },
  60_000,
); // takes a third of a second on a machine that is not busy

const keys = (count: number) => Array.from({ length: count }, (_, index) => `key${index}`);
const entries = (count: number) => Object.fromEntries(keys(count).map((key) => [key, "x y"]));
const spread = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" } as const;
const podAffinity = (term: object) => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", labelSelector: {}, ...term }] },
});

/** Everything that is asked about many entries. */
const collections: Readonly<Record<string, (count: number) => unknown>> = {
  settings: (count) => [...parameters(entries(count), 17, "p")],
  labels: (count) => [...labelKeys(entries(count), "l")],
  annotations: (count) => [...annotations(entries(count), "a")],
  resources: (count) => [...resources({ requests: entries(count), limits: entries(count) }, "r")],
  "values of a selector": (count) => [...placement({ affinity: nodeAffinity({ key: "a", operator: "In", values: keys(count) }) }, "p")],
  "keys of the Pod": (count) => [
    ...placement({ affinity: podAffinity({ matchLabelKeys: keys(count), mismatchLabelKeys: keys(count).map((key) => `${key}x`) }) }, "p"),
  ],
  "keys of a spread": (count) => [...topologySpread([{ ...spread, matchLabelKeys: keys(count) }], "t")],
  spreads: (count) => [
    ...topologySpread(
      Array.from({ length: count }, () => spread),
      "t",
    ),
  ],
  "options of hba": (count) => [...hba(`hostssl all all all ldap ${keys(count).join("=x ")}`, "hba")],
  "steps of a schedule": (count) => [...schedule({ schedule: `${keys(count).fill("*/2").join()} * * * *` }, "s")],
  "what is wrong": (count) => describeViolations(keys(count).map((field) => ({ field, message: "is wrong" }))),
};

test.each(Object.entries(collections))(
  "many %s",
  (_, look) => {
    expect(excessiveGrowth(length, look)).toBeUndefined();
  },
  60_000,
);
