// docs/reasons.md: every reason with its meaning and what a person does, for somebody who looks up one of them.
import { conditionTypes } from "../conditions.ts";
import type { Place, ReasonDescription } from "../reasons/description.ts";
import { passedOnReasons } from "../reasons/passed-on.ts";
import { describedReasons } from "../reasons.ts";

const described: readonly ReasonDescription[] = Object.values(describedReasons)
  .map((reason): ReasonDescription => reason)
  .sort((a, b) => (a.name < b.name ? -1 : 1));

export function reasonsPage(): string {
  return [
    "# Reasons",
    "",
    "Made from `api/reasons.ts` by `make manifests`; changes here are lost.",
    "",
    "The operator says in one word why a database is as it is. `kubectl describe sampledb NAME` shows the words in three places:",
    "",
    "- **conditions**: each has a status and the reason for it. `PrimaryAvailable` is the one that applications depend on;",
    "- **blockers**: what stands in the way, since when, and the way out. A blocker is also told as an Event when it begins;",
    "- **Events**: what has happened.",
    "",
    "In the commands below `NAME` is the SampleDB, `POD` an instance such as `NAME-0`, `NODE` and `CLASS` what the message names. They are for the",
    "namespace of the SampleDB (`--namespace`). The text before a block says when each of its commands is right: never run a block as a whole.",
    "",
    "## Where they appear",
    "",
    "| where | reasons |",
    "|---|---|",
    ...Object.values(conditionTypes).map((type) => `| condition \`${type}\` | ${linksAt(type)} |`),
    `| blockers | ${linksAt("blocker")}, or [another word of Kubernetes](#any-other-reason-of-a-blocker) |`,
    `| Events that are no blockers | ${linksAt("event")} |`,
    "",
    "## Every reason",
    ...described.flatMap(section),
    "",
    "### Any other reason of a blocker",
    "Blocker. Kubernetes says it, and the operator passes it on.",
    "",
    "The kubelet or the scheduler gives a reason for a Pod that does not start, in words of its own that are not listed here.",
    "",
    "**What to do.** Look at the Pod's Events. They name what the kubelet or the scheduler lacks.",
    "",
    ...block(["kubectl describe pod POD"]),
    "",
  ].join("\n");
}

function section(reason: ReasonDescription): string[] {
  const { name, meaning, wayOut, commands = [] } = reason;
  return [
    "",
    `### ${name}`,
    `${placesOf(reason)}.${isPassedOn(reason) ? " Kubernetes says it, and the operator passes it on." : ""}`,
    "",
    linked(meaning, name),
    "",
    `**What to do.** ${linked(wayOut, name)}`,
    ...(commands.length > 0 ? ["", ...block(commands)] : []),
  ];
}

function placesOf({ where }: ReasonDescription): string {
  const types = where.filter((place) => place !== "blocker" && place !== "event").map((type) => `\`${type}\``);
  const conditions = types.length > 0 ? [`condition ${types.join(", ")}`] : [];
  const others = [...(where.includes("blocker") ? ["blocker"] : []), ...(where.includes("event") ? ["Event"] : [])];
  const text = [...conditions, ...others].join("; ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function isPassedOn({ name }: ReasonDescription): boolean {
  return Object.values(passedOnReasons).some((reason) => reason.name === name);
}

function linksAt(place: Place): string {
  return described
    .filter(({ where }) => where.includes(place))
    .map(({ name }) => link(name))
    .join(", ");
}

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** These are words of the API in other places, so that in a sentence they need not mean the reason. */
const otherWords: readonly string[] = [...Object.values(conditionTypes), "Hibernated"];

/** Names of other reasons in a text lead to them. */
function linked(text: string, own: string): string {
  return text.replace(/`?\b([A-Z][a-z]+(?:[A-Z][a-z]+)*)\b`?/g, (whole, name: string) =>
    name !== own && !otherWords.includes(name) && described.some((reason) => reason.name === name) ? link(name) : whole,
  );
}

function block(commands: readonly string[]): string[] {
  return ["```sh", ...commands, "```"];
}
