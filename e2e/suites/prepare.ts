// All that suites start, made before their tests begin and one after the other: a build takes every core for minutes, and tests have
// deadlines. As a program it prepares the whole stage `integration`; a person who runs one file waits for nothing that it does not need.
import { imageArchive } from "../../images/archive.ts";
import { catalog } from "../../images/catalog.ts";
import { bundle } from "../../tools/bundle.ts";
import { runProgram } from "../../tools/progress.ts";
import { clusterImage } from "../cluster/images.ts";
import { installPackages } from "../cluster/packages.ts";
import { programsDirectory } from "../cluster/programs.ts";
import { helmProgram } from "../helm/helm.ts";
import { validatorsProgram } from "../olm/validators.ts";
import { registryProgram } from "../registry/registry.ts";
import { minioProgram } from "../store/minio-program.ts";

/** What clusters are made from. */
export async function prepareClusters(): Promise<void> {
  await installPackages();
  for (const program of ["pause", "coredns"] as const) await clusterImage(program);
  await prepareImages();
}

async function prepareImages(): Promise<void> {
  await bundle();
  for (const definition of catalog()) await imageArchive(definition);
}

/** Without root, the tests of the image's programs are passed over. */
async function prepareIntegration(): Promise<void> {
  for (const build of [programsDirectory, minioProgram, () => helmProgram(), validatorsProgram, registryProgram]) await build();
  if (process.getuid?.() !== 0) return;
  await installPackages();
  await prepareImages();
}

if (import.meta.main) await runProgram(prepareIntegration);
