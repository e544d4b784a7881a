// What the cluster takes from Debian: installed when it is missing, and only then.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CommandError, ProgramMissing, run } from "../../tools/command.ts";
import { Refusal, step } from "../../tools/progress.ts";
import { projectDirectory } from "./plan.ts";

/** A program that the package brings, wherever the release puts it; plugins by their path. */
const packages: Readonly<Record<string, string>> = {
  containerd: "containerd",
  runc: "runc",
  "containernetworking-plugins": "/usr/lib/cni/ptp",
  nftables: "nft",
  conntrack: "conntrack",
  iproute2: "ip",
  procps: "sysctl",
  xfsprogs: "mkfs.xfs",
  buildah: "buildah",
  mmdebstrap: "mmdebstrap",
};

export async function installPackages(): Promise<void> {
  const missing = Object.keys(packages).filter((name) => !isThere(packages[name] ?? ""));
  if (missing.length === 0) return;
  await step(`installing Debian packages: ${missing.join(" ")}`, () => install(missing));
}

function isThere(file: string): boolean {
  return ["/", "/usr/bin", "/usr/sbin", "/bin", "/sbin"].some((directory) => existsSync(join(directory, file)));
}

async function install(missing: readonly string[]): Promise<void> {
  const logFile = join(projectDirectory, "build/logs/packages.log");
  try {
    // A foreign source that does not answer makes the update fail; whether we get what we need shows in the install.
    await run("apt-get", ["update"], { logFile }).catch(() => {});
    await run("apt-get", ["install", "--yes", "--no-remove", "--no-install-recommends", ...missing], {
      logFile,
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
  } catch (error) {
    if (error instanceof ProgramMissing)
      throw new Refusal(`this machine has no apt-get: install by hand what is missing (${missing.join(", ")}) and run it again`);
    if (error instanceof CommandError)
      throw new Refusal(
        `could not install ${missing.join(", ")}: check the network and apt's sources (${logFile} has the details), then run it again`,
      );
    throw error;
  }
}
