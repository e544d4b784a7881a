// The names of the project's images. Whatever builds, loads, deploys or runs one takes its name from here.

type Environment = Readonly<Record<string, string | undefined>>;

/** Without registry and tag. */
export const operatorImageName = "sampledb/operator";
export const postgresImageName = "sampledb/postgres";
export const bundleImageName = "sampledb/bundle";

/** IMAGE_REGISTRY, or a name that no registry has: such images are on the nodes already, and nobody else can publish them. */
export function imageRegistry(environment: Environment): string {
  return environment["IMAGE_REGISTRY"] || "localhost";
}

/** The image of databases of a major where nothing else is told. */
export function postgresReference(major: number, environment: Environment): string {
  return `${imageRegistry(environment)}/${postgresImageName}:${major}`;
}

/** With a digest in place of the tag, where there is one: some tools refuse a name with both. */
export function exactReference(reference: string, digest: string | undefined): string {
  return digest === undefined ? reference : `${reference.replace(/:[^:/]+$/, "")}@${digest}`;
}

/** Whether the registry is one on this machine, which needs no TLS, as Docker has it. */
export function isOnLoopback(reference: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/.test(reference);
}
