// The operator of an earlier commit of this repository, made by that commit's own code: its images and its manifest.
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type ImageDefinition, imageName, imageReference } from "../../images/definition.ts";
import { operatorImageName, postgresImageName } from "../../images/names.ts";
import { cacheDirectory, forgetOldest, makeOnce, touch } from "../../tools/cache.ts";
import { run, succeeds } from "../../tools/command.ts";
import { Refusal, step } from "../../tools/progress.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { programsDirectory } from "../cluster/programs.ts";

/** The commit that databases must survive an upgrade from, where a suite names no other. */
const upgradeFrom = "4038e3e3df19cfcb108e5976426cc3a07788e1ec";

const major = 17;
const directory = join(cacheDirectory, "earlier-operators");
/** The pinned commits of three suites, and one that UPGRADE_FROM names. */
const commitsKept = 4;

export interface EarlierOperator {
  /** Short, for people. */
  readonly commit: string;
  readonly operatorImage: ImageDefinition;
  /** The image of its databases of PostgreSQL 17. */
  readonly postgresImage: ImageDefinition;
  /** What nodes need before the manifest is applied. */
  readonly images: readonly ImageDefinition[];
  /** Everything that `make deploy` of that commit applies. */
  readonly manifest: string;
  /** The folder of that commit's OLM bundle, where it has one. */
  readonly bundle: string;
  /** Another operator's manifest, with databases of PostgreSQL 17 on the earlier image: another image would be tried in Jobs, and wait for a restart. */
  keepImage(manifest: string): string;
}

/** UPGRADE_FROM names another commit than the suite does. */
export async function earlierOperator(from = upgradeFrom): Promise<EarlierOperator> {
  const commit = await wholeName(process.env["UPGRADE_FROM"] || from);
  const sources = join(directory, commit);
  const short = commit.slice(0, 7);
  if (!existsSync(sources)) {
    await step(`the operator of commit ${short}`, () => makeOnce(sources, (unfinished) => checkOutAndBundle(commit, unfinished)));
    forgetOldest(directory, /^[0-9a-f]{40}$/, commitsKept);
  }
  touch(sources);

  // Its images are under names of their own: those of the working tree stay what they are.
  const tag = `from-${short}`;
  const environment = { IMAGE_TAG: tag, PATH: [await programsDirectory(), process.env["PATH"] ?? ""].join(delimiter) };
  const catalog = 'import { catalog } from "./images/catalog.ts"; console.log(JSON.stringify(catalog()));';
  const definitions = JSON.parse(await node(sources, environment, "--input-type=module", "--eval", catalog)) as ImageDefinition[];
  await node(sources, environment, "tools/deploy.ts", "installer");

  const postgres = { ...find(definitions, `${postgresImageName}:${major}`), tag: `${major}-${tag}` };
  const keepImage = (manifest: string) => withPostgresImage(manifest, imageReference(postgres));
  const operator = find(definitions, `${operatorImageName}:${tag}`);
  return {
    commit: short,
    operatorImage: operator,
    postgresImage: postgres,
    images: [operator, postgres],
    bundle: join(sources, "bundle"),
    manifest: keepImage(readFileSync(join(sources, "dist/install.yaml"), "utf8")),
    keepImage,
  };
}

async function wholeName(commit: string): Promise<string> {
  const git = ["-C", projectDirectory, "rev-parse", "--quiet", "--verify", `${commit}^{commit}`];
  if (await succeeds("git", git)) return (await run("git", git)).trim();
  throw new Refusal(
    `commit ${commit} is not in this clone: fetch it (git fetch --unshallow), or set UPGRADE_FROM to the commit to upgrade from`,
  );
}

async function checkOutAndBundle(commit: string, folder: string): Promise<void> {
  mkdirSync(folder);
  const archive = `${folder}.tar`;
  await run("git", ["-C", projectDirectory, "archive", "--output", archive, commit]);
  await run("tar", ["--extract", "--file", archive, "--directory", folder]);
  const lock = (place: string) => readFileSync(join(place, "package-lock.json"), "utf8");
  if (lock(folder) === lock(projectDirectory)) {
    // A copy and no link: an image is built from files of its context alone, and one of them is Node.
    cpSync(join(projectDirectory, "node_modules"), join(folder, "node_modules"), { recursive: true, verbatimSymlinks: true });
  } else await run("npm", ["ci", "--loglevel=error"], { cwd: folder });
  await node(folder, {}, "tools/bundle.ts");
}

async function node(cwd: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
  return await run(process.execPath, args, { cwd, env });
}

function find(definitions: readonly ImageDefinition[], name: string): ImageDefinition {
  const found = definitions.find((definition) => imageName(definition) === name);
  if (!found) throw new Error(`the earlier operator has no image ${name}: it has ${definitions.map(imageName).join(", ")}`);
  return found;
}

function withPostgresImage(manifest: string, reference: string): string {
  const told = new RegExp(`(name: RELATED_IMAGE_POSTGRES_${major}\\n\\s+value:) .*`);
  if (!told.test(manifest)) throw new Error(`the manifest does not tell the operator its image of PostgreSQL ${major}`);
  return manifest.replace(told, `$1 ${reference}`);
}
