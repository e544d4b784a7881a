// The order of resourceVersions. Within a kind they are growing numbers (KEP-5504; etcd revisions ever since). For an API server
// that does otherwise only equality is known.

/** Negative, zero or positive as `a` is older than, the same as or newer than `b`; undefined when their order is unknown. */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return 0;
  if (!isNumber(a) || !isNumber(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length; // no leading zeros, and possibly too long for a safe integer
  return a < b ? -1 : 1;
}

function isNumber(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
