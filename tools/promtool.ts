// Prometheus' promtool, which tests alert rules: out of Debian's package, without installing its daemon.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDirectory, makeOnce } from "./cache.ts";
import { CommandError, ProgramMissing, run } from "./command.ts";
import { Refusal } from "./progress.ts";

/** The path of the program: the machine's own where it has one. */
export async function promtool(): Promise<string> {
  if (existsSync("/usr/bin/promtool")) return "/usr/bin/promtool";
  const folder = join(cacheDirectory, `promtool-${process.arch}`);
  if (!existsSync(folder)) await makeOnce(folder, unpack);
  return join(folder, "usr/bin/promtool");
}

async function unpack(folder: string): Promise<void> {
  const cwd = dirname(folder);
  mkdirSync(folder);
  try {
    const download = () => run("apt-get", ["download", "prometheus"], { cwd });
    await download().catch(async () => {
      await run("apt-get", ["update"]).catch(() => {}); // a foreign source may not answer; the download shows whether ours does
      await download();
    });
    const archive = readdirSync(cwd).find((name) => name.endsWith(".deb"));
    await run("dpkg-deb", ["--extract", join(cwd, archive ?? "prometheus.deb"), folder]);
  } catch (error) {
    if (error instanceof ProgramMissing || error instanceof CommandError)
      throw new Refusal(`could not get promtool from Debian's package prometheus: install it by hand and run it again (${error.message})`);
    throw error;
  }
}
