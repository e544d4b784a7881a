// Images on the nodes, without a registry: each is brought in as a file, once.
import { join } from "node:path";
import { type ImageArchive, imageArchive } from "../../images/archive.ts";
import type { ImageDefinition } from "../../images/definition.ts";
import type { LocalCluster } from "./local-cluster.ts";
import { runInside } from "./machine.ts";
import { containerdSocket } from "./parts.ts";
import { programsDirectory } from "./programs.ts";

const containerd = ["ctr", "--address", containerdSocket];

/** Fails while containerd is not up. */
export async function askContainerd(nodePid: number): Promise<void> {
  await runInside(nodePid, [...containerd, "--connect-timeout", "1s", "version"]);
}

/** The images that the cluster itself runs on, made from its own programs. */
export async function clusterImage(program: "pause" | "coredns"): Promise<ImageArchive> {
  const context = await programsDirectory();
  return imageArchive({
    name: `sampledb/${program}`,
    tag: "local",
    registry: "localhost",
    dockerfile: join(import.meta.dirname, `images/${program}/Dockerfile`),
    context,
    onDebian: false,
    inputs: [join(context, program)],
  } satisfies ImageDefinition);
}

/** Builds what has changed and brings it to every node. */
export async function loadImages(cluster: LocalCluster, definitions: readonly ImageDefinition[]): Promise<void> {
  for (const definition of definitions) {
    const image = await imageArchive(definition);
    await Promise.all(cluster.plan.nodes.map(({ name }) => importImage(cluster.pid(name), image)));
  }
}

/** Brings the image to a node, unless the node has it as it is. */
export async function importImage(nodePid: number, image: ImageArchive): Promise<void> {
  const ctr = [...containerd, "--namespace", "k8s.io", "images"];
  const present = await runInside(nodePid, [...ctr, "list", "--quiet", `labels."sampledb.io/inputs"==${image.fingerprint}`]);
  if (present.split("\n").includes(image.reference)) return;
  await runInside(nodePid, [...ctr, "import", "-"], { inputFile: image.archive });
  // The label is set last: an import that was cut short is done again.
  await runInside(nodePid, [...ctr, "label", image.reference, `sampledb.io/inputs=${image.fingerprint}`]);
}
