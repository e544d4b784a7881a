// The names of the project's images. Whatever builds, loads, deploys or runs one takes its name from here.

type Environment = Readonly<Record<string, string | undefined>>;

/** Without registry and tag. */
export const operatorImageName = "sampledb/operator";
export const postgresImageName = "sampledb/postgres";

/** IMAGE_REGISTRY, or a name that no registry has: such images are on the nodes already, and nobody else can publish them. */
export function imageRegistry(environment: Environment): string {
  return environment["IMAGE_REGISTRY"] || "localhost";
}

/** The image of databases of a major where nothing else is told. */
export function postgresReference(major: number, environment: Environment): string {
  return `${imageRegistry(environment)}/${postgresImageName}:${major}`;
}
