// The control plane that all files of an integration worker share, one file after the other.
import { inject } from "vitest";
import { type ControlPlane, StandaloneControlPlane } from "../cluster/standalone.ts";
import { ownResource } from "../suites/worker-resources.ts";

/**
 * For files that neither break it nor look at what belongs to all of it: they work in namespaces of their own, and take it as they find
 * it, with the kinds and objects of files before them. All others start one of their own.
 */
export async function sharedControlPlane(): Promise<ControlPlane> {
  return StandaloneControlPlane.attach(await ownResource<Pick<ControlPlane, "directory" | "url">>(inject("controlPlanes")));
}
