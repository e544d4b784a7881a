// make deploy, undeploy, build-installer: the operator and all it needs, with the image's whole name in it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseImages, operatorImage } from "../images/catalog.ts";
import { type ImageDefinition, imageName, imageReference } from "../images/definition.ts";
import { run } from "./command.ts";
import { Refusal, runProgram, say } from "./progress.ts";

const root = join(import.meta.dirname, "..");

/** What stands in config/manager for an image, and the image. */
const images = new Map<RegExp, ImageDefinition>([
  [placeholder("image", operatorImage().name), operatorImage()],
  ...databaseImages().map((image) => [placeholder("value", imageName(image)), image] as const),
]);

function placeholder(field: string, name: string): RegExp {
  return new RegExp(`^(\\s+${field}:) ${name}$`, "gm");
}

/** Every database, its authorities in the operator's namespace, and what keeps one from being deleted while no operator looks after it. */
const staying = /^kind: (CustomResourceDefinition|ValidatingAdmissionPolicy(Binding)?|Namespace)$/m;
const workload = /^kind: Deployment$/m;

export const withKubectl = (directory: string) => run("kubectl", ["kustomize", directory]);

/** Everything that make deploy applies. `nameOf` is what an image is called in it. */
export async function operatorManifest(
  kustomize: (directory: string) => Promise<string> = withKubectl,
  nameOf: (image: ImageDefinition) => string = imageReference,
): Promise<string> {
  let built = await kustomize(join(root, "config/default"));
  for (const [placeholder, image] of images) {
    if (built.search(placeholder) < 0) throw new Error(`config/manager has nothing to replace with ${imageReference(image)}`);
    built = built.replace(placeholder, `$1 ${nameOf(image)}`);
  }
  return built;
}

const commands: Readonly<Record<string, () => Promise<void>>> = {
  async apply() {
    process.stdout.write(await run("kubectl", ["apply", "--server-side", "--filename=-"], { input: await operatorManifest() }));
  },

  /**
   * CRDs and policies stay: taking them away is make uninstall, and a decision of its own. The operator ends first, while it still has the
   * right to give its leadership back: another one can begin at once.
   */
  async delete() {
    const documents = (await operatorManifest()).split(/^---$/m).filter((document) => !staying.test(document));
    await remove(
      documents.filter((document) => workload.test(document)),
      "--cascade=foreground",
    );
    await remove(documents.filter((document) => !workload.test(document)));
  },

  async installer() {
    mkdirSync(join(root, "dist"), { recursive: true });
    writeFileSync(join(root, "dist/install.yaml"), await operatorManifest());
    say("dist/install.yaml is written: kubectl apply --server-side --filename dist/install.yaml");
  },
};

async function remove(documents: readonly string[], ...more: readonly string[]): Promise<void> {
  const options = ["delete", "--ignore-not-found", "--timeout=180s", "--filename=-", ...more];
  process.stdout.write(await run("kubectl", options, { input: documents.join("---") }));
}

async function main(): Promise<void> {
  const [name = ""] = process.argv.slice(2);
  const command = commands[name];
  if (!command) throw new Refusal(`no command ${name}: there are ${Object.keys(commands).join(", ")}`);
  await command();
}

if (import.meta.main) await runProgram(main);
