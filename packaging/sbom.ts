// The npm packages that are in the operator, as a CycloneDX document.

/** The part of package-lock.json that is read. */
export interface Lock {
  readonly version: string;
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly dev?: boolean;
        readonly optional?: boolean;
        readonly license?: string;
        readonly integrity?: string;
      }
    >
  >;
}

/** Without times and serial numbers, so that the same sources give the same bytes. */
export function billOfMaterials({ version, packages }: Lock): object {
  const components = Object.entries(packages).flatMap(([path, { version: its = "", dev, license, integrity }]) => {
    const name = path.split("node_modules/").at(-1) ?? "";
    if (name === "" || dev) return []; // the project itself, and what only builds and tests it
    const [algorithm = "", digest = ""] = integrity?.split("-") ?? [];
    const hashes = algorithm === "sha512" ? [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] : [];
    const licenses = license === undefined ? [] : [{ license: { name: license } }];
    return [{ type: "library", name, version: its, purl: `pkg:npm/${name.replace("@", "%40")}@${its}`, hashes, licenses }];
  });
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", name: "sampledb-operator", version } },
    components: components.sort((a, b) => (a.purl < b.purl ? -1 : 1)),
  };
}
