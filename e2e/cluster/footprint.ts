// What a cluster could leave behind on its host, as a value that can be compared before and after.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../tools/command.ts";

export interface Footprint {
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly loopDevices: readonly string[];
  readonly networkNamespaces: readonly string[];
  readonly links: readonly string[];
  readonly routes: readonly string[];
  readonly firewall: string;
  readonly cgroups: readonly string[];
  readonly kernelSettings: readonly string[];
  readonly folders: readonly string[];
}

const kernelSettings = [
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "net/ipv4/ip_forward",
];
const folders = ["/run", "/run/netns", "/var/lib", "/var/lib/sampledb", "/var/log", "/var/run", "/opt", "/etc/cni/net.d", "/usr/libexec"];

export async function footprint(): Promise<Footprint> {
  const lines = async (...command: [string, ...string[]]) => (await run(command[0], command.slice(1))).trim().split("\n");
  return {
    processes: daemons(),
    mounts: readFileSync("/proc/self/mounts", "utf8").trim().split("\n").sort(),
    loopDevices: await lines("losetup", "--noheadings", "--list", "--output", "NAME,BACK-FILE"),
    networkNamespaces: await lines("lsns", "--type", "net", "--noheadings", "--output", "NS,NSFS"),
    links: await lines("ip", "-oneline", "link"),
    routes: await lines("ip", "route"),
    firewall: await run("nft", ["list", "ruleset"]),
    cgroups: cgroupsBelow("/sys/fs/cgroup", 2),
    kernelSettings: kernelSettings.map((name) => `${name}=${readFileSync(join("/proc/sys", name), "utf8").trim()}`),
    folders: folders.filter((folder) => existsSync(folder)).flatMap(entries),
  };
}

/** Programs that only a cluster has; the rest of the host comes and goes as it likes. */
function daemons(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return /sampledb|containerd|kube|coredns|\/pause/.test(argv.split(" ").slice(0, 3).join(" "))
          ? [`${pid} ${argv.slice(0, 120)}`]
          : [];
      } catch {
        return [];
      }
    });
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder)
      .map((name) => join(folder, name))
      .sort();
  } catch {
    return []; // a file
  }
}

function cgroupsBelow(folder: string, depth: number): string[] {
  const groups = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
  return depth === 0 ? [] : groups.flatMap((group) => [group, ...cgroupsBelow(group, depth - 1)]);
}
