// make bench-backup: how long backups and restores take beside pg_basebackup and a plain copy in the same run, what applications notice of a
// backup, and what schedules and Backups that are over cost the operator. BENCH_PARTS names parts of it, BENCH_GIGABYTES the size of the
// database.
import { Refusal, runProgram, step } from "../../tools/progress.ts";
import { Database } from "../database/database.ts";
import { Operator } from "../database/operator.ts";
import { gigabytes, makeSubject } from "./backup-data.ts";
import { memory } from "./backup-memory.ts";
import { Speeds } from "./backup-speeds.ts";
import { deleteNamespace, withCluster } from "./bench-cluster.ts";
import { printFigures } from "./figures.ts";
import { goingBack } from "./going-back.ts";
import { schedulesAtRest } from "./schedules.ts";
import { smallRestore } from "./small-restore.ts";

const parts = ["full", "incremental", "load", "restore", "back", "small", "memory", "schedules"];
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const where = "bench-backup";

await runProgram(async () => {
  const chosen = process.env["BENCH_PARTS"]?.split(",") ?? parts;
  const unknown = chosen.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Refusal(`BENCH_PARTS has no ${unknown.join(", ")}: there are ${parts.join(", ")}`);
  if (!(gigabytes > 0)) throw new Refusal(`BENCH_GIGABYTES must be a number, and is ${process.env["BENCH_GIGABYTES"]}`);
  const asked = (...some: readonly string[]) => some.some((part) => chosen.includes(part));
  if (asked("full", "incremental", "load", "restore", "back", "small")) {
    await withCluster(async (kubectl) => {
      const operator = new Operator(kubectl);
      await step("the operator", () => operator.make("deploy").then(() => operator.ready()));
      if (asked("small")) printFigures("A small database", [await step("small restores", () => smallRestore(kubectl, rounds))]);
      if (asked("full", "incremental", "load", "restore", "back")) {
        const subject = await makeSubject(kubectl, where);
        const speeds = new Speeds(subject, rounds);
        if (asked("full")) printFigures(`A full backup of ${gigabytes} GB`, await step("full", () => speeds.full()), "bare");
        if (asked("incremental")) printFigures("An incremental backup", await step("incremental", () => speeds.incremental()), "full");
        if (asked("restore")) printFigures("A restore", await step("restore", () => speeds.restore()), "plain");
        if (asked("load")) printFigures("Applications", await step("load", () => speeds.load()), "alone");
        if (asked("back")) printFigures("Going back", await step("back", () => goingBack(subject)), "peer");
        await Database.deleteAll(subject.namespace);
        await deleteNamespace(kubectl, where);
      }
      await operator.make("undeploy");
    });
  }
  if (asked("memory")) printFigures("At rest, without nodes", await memory(), "none");
  if (asked("schedules")) printFigures("Schedules while nothing is due, on kwok's nodes", await schedulesAtRest(), "none");
});
