// The file-based catalog: what OLM has to know of the package beside its bundles. Each bundle's own entry is rendered by opm.
import { channel, packageName } from "./bundle.ts";
import { icon, summary } from "./presentation.ts";

/** A version, and which installed versions it follows: one by its name, or all in a range. */
export interface ChannelEntry {
  readonly version: string;
  readonly replaces?: string;
  readonly skipRange?: string;
}

/** The name of the ClusterServiceVersion, by which OLM knows a version. */
export function csvName(version: string): string {
  return `${packageName}.v${version}`;
}

/** A catalog of one bundle, which follows whatever earlier version is installed: an operator's upgrade restarts no database. */
export function newestAlone(version: string): ChannelEntry[] {
  return [{ version, skipRange: `<${version}` }];
}

export function catalogObjects(entries: readonly ChannelEntry[]): object[] {
  return [
    {
      schema: "olm.package",
      name: packageName,
      defaultChannel: channel,
      description: summary,
      icon: { base64data: Buffer.from(icon).toString("base64"), mediatype: "image/svg+xml" },
    },
    {
      schema: "olm.channel",
      package: packageName,
      name: channel,
      entries: entries.map(({ version, replaces, ...more }) => ({
        name: csvName(version),
        ...(replaces === undefined ? {} : { replaces: csvName(replaces) }),
        ...more,
      })),
    },
  ];
}
