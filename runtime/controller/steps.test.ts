// The outcome of a list of steps.
import { expect, test } from "vitest";
import { after, asError, awaitChange, earliest, failed, type Result, TerminalError, terminal } from "./result.ts";
import { done, doneUntil, runSteps, type Step, StepError, waitFor } from "./steps.ts";

const [one, two] = [new Error("one"), new Error("two")];

test.each<[string, Result[], Result]>([
  ["nothing", [], awaitChange],
  ["waiting for a change only", [awaitChange, awaitChange], awaitChange],
  ["the shortest wait wins", [after(30), awaitChange, after(5)], after(5)],
  ["a wait of zero is a wait", [after(0), after(5)], after(0)],
  [
    "errors go before times, and keep no part from its next look",
    [after(5), failed(one), failed(two)],
    { ...failed(one, two), seconds: 5 },
  ],
  ["errors go before terminal ones", [terminal(one), failed(two)], failed(two)],
  ["terminal alone", [awaitChange, terminal(one), terminal(two)], terminal(one)],
  ["terminal, and another look is due", [terminal(one), after(7), after(9)], { kind: "terminal", error: one, seconds: 7 }],
])("earliest: %s", (_, results, expected) => {
  expect(earliest(results)).toEqual(expected);
});

test.each<[string, unknown, string]>([
  ["a text", "why", "why"],
  ["undefined", undefined, "what was thrown is no Error"],
  ["an object that can't become text", Object.create(null), "what was thrown is no Error"],
])("asError: %s becomes an error", (_, thrown, message) => {
  expect(asError(thrown)).toMatchObject({ message, cause: thrown });
});

interface Scope {
  readonly signal: AbortSignal;
  readonly ran: string[];
}

const names = ["first", "second", "third"] as const;

async function outcomeOf(...results: (() => Promise<Awaited<ReturnType<Step<Scope>>>>)[]) {
  const scope: Scope = { signal: new AbortController().signal, ran: [] };
  const steps = results.map((result, index) => {
    const name = names[index] ?? "";
    const step: Step<Scope> = ({ ran }) => {
      ran.push(name);
      return result();
    };
    return Object.defineProperty(step, "name", { value: name });
  });
  return { ...(await runSteps(steps, scope)), ran: scope.ran };
}

const ok = async () => done;
const fails = (error: unknown) => async () => {
  throw error;
};

test("steps run in order, and the outcome is the earliest of their results", async () => {
  const outcome = await outcomeOf(
    ok,
    async () => doneUntil(9),
    async () => doneUntil(3),
  );
  expect(outcome).toEqual({ ran: ["first", "second", "third"], result: after(3), errors: [], waitingFor: undefined });
});

test("no step runs after one that waits", async () => {
  const outcome = await outcomeOf(ok, async () => waitFor("PrimaryReady", after(5)), ok);
  expect(outcome).toEqual({ ran: ["first", "second"], result: after(5), errors: [], waitingFor: "PrimaryReady" });
});

test("an error does not keep other steps from running, and names its step", async () => {
  const outcome = await outcomeOf(fails(one), ok, fails("text"));
  expect(outcome.ran).toEqual(["first", "second", "third"]);
  expect(outcome.errors.map(({ step, message }) => [step, message])).toEqual([
    ["first", "first: one"],
    ["third", "third: text"],
  ]);
  expect(outcome.errors[0]?.cause).toBe(one);
  expect(outcome.result).toEqual(failed(...outcome.errors));
});

test("a step that throws before it returns a promise is handled like one that rejects", async () => {
  const outcome = await outcomeOf(() => {
    throw one;
  }, ok);
  expect(outcome.ran).toEqual(["first", "second"]);
  expect(outcome.errors[0]).toBeInstanceOf(StepError);
});

test("a terminal error stays terminal, and is reported", async () => {
  const outcome = await outcomeOf(ok, fails(new TerminalError("never")));
  expect(outcome.result).toEqual(terminal(outcome.errors[0] as Error));
  expect(outcome.errors[0]?.message).toBe("second: never");
});

test("no step begins in an aborted reconcile", async () => {
  const end = new AbortController();
  const ran: string[] = [];
  const step: Step<Scope> = async () => {
    ran.push("first");
    end.abort(one);
    return done;
  };
  const next: Step<Scope> = async () => {
    ran.push("second");
    return done;
  };
  await expect(runSteps([step, next], { signal: end.signal, ran })).rejects.toBe(one);
  expect(ran).toEqual(["first"]);
});
