// The order of resourceVersions. Those of one kind are growing numbers (KEP-5504; etcd's revisions ever since); an API
// server that does otherwise is met with equality alone.

/** Below, at or above zero as `a` is older than, the same as or newer than `b`; undefined when nobody can tell. */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return 0;
  if (!isNumber(a) || !isNumber(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length; // they have no leading zeros, and may be longer than a safe integer
  return a < b ? -1 : 1;
}

function isNumber(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
