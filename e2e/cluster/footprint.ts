// What a cluster could leave behind on its host: looked at before and after, the difference must be nothing.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../tools/command.ts";

export type Footprint = Readonly<Record<string, readonly string[]>>;

const kernelSettings = [
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "net/ipv4/ip_forward",
];
const folders = ["/run", "/run/netns", "/var/lib", "/var/lib/sampledb", "/var/log", "/opt", "/etc/cni/net.d", "/usr/libexec"];

/** What a cluster makes has one of these in its name; the rest of a host comes and goes as it likes. */
const ours = /sampledb|containerd|kube|coredns|\bcni|netns|runc|\/pause/;

export async function footprint(): Promise<Footprint> {
  const lines = async (program: string, ...args: string[]) => (await run(program, args)).trim().split("\n");
  return {
    processes: processes().filter((line) => ours.test(line)),
    mounts: readFileSync("/proc/self/mounts", "utf8").trim().split("\n"),
    loopDevices: await lines("losetup", "--noheadings", "--list", "--output", "NAME,BACK-FILE"),
    networkNamespaces: await lines("lsns", "--type", "net", "--noheadings", "--output", "NS,NSFS"),
    links: await lines("ip", "-oneline", "link"),
    routes: await lines("ip", "route"),
    firewall: await lines("nft", "list", "ruleset"),
    cgroups: cgroupsBelow("/sys/fs/cgroup", 2).filter((group) => ours.test(group)),
    kernelSettings: kernelSettings.map((name) => `${name}=${readFileSync(join("/proc/sys", name), "utf8").trim()}`),
    folders: folders
      .filter((folder) => existsSync(folder))
      .flatMap(entries)
      .filter((path) => ours.test(path)),
  };
}

/** What is there now and was not before, by category; a category without anything new is left out. */
export function newSince(before: Footprint, after: Footprint): Footprint {
  const additions = Object.entries(after).map(
    ([category, now]) => [category, now.filter((entry) => !before[category]?.includes(entry))] as const,
  );
  return Object.fromEntries(additions.filter(([, added]) => added.length > 0));
}

/** Each with its number and the beginning of its command line. */
function processes(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 3).join(" ");
        return argv.trim() === "" ? [] : [`${pid} ${argv}`];
      } catch {
        return []; // it ended while we looked
      }
    });
}

function entries(folder: string): string[] {
  return readdirSync(folder).map((name) => join(folder, name));
}

function cgroupsBelow(folder: string, depth: number): string[] {
  const groups = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
  return depth === 0 ? [] : groups.flatMap((group) => [group, ...cgroupsBelow(group, depth - 1)]);
}
