// The control groups below which a cluster's containers are accounted for.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../tools/eventually.ts";

const root = "/sys/fs/cgroup";

/** One folder for each controller with version 1, the only one with version 2. */
function hierarchies(): string[] {
  const isUnified = existsSync(join(root, "cgroup.controllers"));
  return isUnified
    ? [root]
    : readdirSync(root)
        .map((name) => join(root, name))
        .filter((path) => existsSync(join(path, "cgroup.procs")));
}

/** Makes the group in every hierarchy, each level ready to have children that are limited. */
export function makeCgroup(path: string): void {
  for (const hierarchy of hierarchies()) {
    let parent = hierarchy;
    for (const name of path.split("/").filter(Boolean)) {
      const group = join(parent, name);
      mkdirSync(group, { recursive: true });
      inheritCpuset(parent, group);
      delegateControllers(parent);
      parent = group;
    }
    delegateControllers(parent);
  }
}

/** Version 1: a new cpuset group is empty and accepts no process until it is told its CPUs and memory. */
function inheritCpuset(parent: string, group: string): void {
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    const path = join(group, file);
    if (!existsSync(join(group, "cgroup.controllers")) && existsSync(path) && readFileSync(path, "utf8").trim() === "") {
      writeFileSync(path, readFileSync(join(parent, file)));
    }
  }
}

/** Version 2: children have only the controllers that their parent hands down. */
function delegateControllers(group: string): void {
  const available = join(group, "cgroup.controllers");
  if (!existsSync(available)) return;
  for (const controller of readFileSync(available, "utf8").trim().split(" ").filter(Boolean)) {
    try {
      writeFileSync(join(group, "cgroup.subtree_control"), `+${controller}`);
    } catch {
      // The kubelet names the controller if it really needs one that can't be handed down here.
    }
  }
}

function cgroupsLeft(path: string): string[] {
  return hierarchies()
    .map((hierarchy) => join(hierarchy, path))
    .filter(existsSync);
}

/** What a test has frozen, and was interrupted before it could thaw, can't end: processes that were killed wait for it, with their files open. */
export function thawCgroups(path: string): void {
  for (const group of cgroupsLeft(path)) thawTree(group);
}

/** With version 1 a group may be frozen by itself, with version 2 as well. */
function thawTree(group: string): void {
  try {
    for (const entry of readdirSync(group, { withFileTypes: true })) {
      if (entry.isDirectory()) thawTree(join(group, entry.name));
      else if (entry.name === "freezer.state") writeFileSync(join(group, entry.name), "THAWED");
      else if (entry.name === "cgroup.freeze") writeFileSync(join(group, entry.name), "0");
    }
  } catch (error) {
    if (!["ENOENT", "ENODEV"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error; // it has just been removed
  }
}

/** Removes the group with all below it. Its processes were killed; the kernel may need a moment to let go of them. */
export async function removeCgroup(path: string): Promise<void> {
  await eventually(`the control groups below ${path} are gone`, 30_000, () => cgroupsLeft(path).every(removeTree));
}

/** False when a group is still in use. */
function removeTree(group: string): boolean {
  try {
    const children = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    if (!children.every(({ name }) => removeTree(join(group, name)))) return false;
    rmdirSync(group);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    if (code === "EBUSY") return false;
    throw error;
  }
}
