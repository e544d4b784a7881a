// Names of labels and annotations, as the API server takes them: an optional prefix that is a domain, a slash and a name.
import { type Check, entryOf, shown, type Violation } from "./violation.ts";

const name = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const namespaceName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const longestName = 63;
const longestPrefix = 253;
const largestAnnotations = 256 * 1024;
const ownDomain = "sampledb.io";

/** Longer than this is no key; it is not matched either, so that a long one costs nothing. */
const longestKey = longestPrefix + 1 + longestName;

/** What is wrong with a key, as the end of a sentence; undefined when nothing is. */
function keyFault(key: string): string | undefined {
  const allowed = `a key is a name, or a domain, a slash and a name, such as example.com/team`;
  if (key.length > longestKey)
    return `is too long; ${allowed}, with ${longestName} characters for the name and ${longestPrefix} for the domain`;
  const parts = key.split("/");
  if (parts.length > 2) return `has more than one slash; ${allowed}`;
  const ownName = parts.at(-1) ?? "";
  if (ownName.length > longestName) return `has a name of ${ownName.length} characters; at most ${longestName} are allowed`;
  if (!name.test(ownName)) return `is not a key; ${allowed}, of letters, digits, - _ and . with a letter or digit at both ends`;
  const prefix = parts.length === 2 ? (parts[0] ?? "") : undefined;
  if (prefix === undefined) return undefined;
  if (prefix.length > longestPrefix) return `has a domain of ${prefix.length} characters; at most ${longestPrefix} are allowed`;
  if (!domain.test(prefix)) return `has a prefix that is no domain; ${allowed}, with a domain of small letters, digits, - and .`;
  return undefined;
}

/** The key of a label, or whatever names one. */
export const labelKey: Check<string> = function* (key, field) {
  const fault = keyFault(key);
  if (fault !== undefined) yield { field, message: `${shown(key)} ${fault}` };
};

/** The keys of a map of labels; the schema has its values. */
export const labelKeys: Check<Readonly<Record<string, unknown>>> = function* (labels, field) {
  for (const key in labels) yield* labelKey(key, entryOf(field, key));
};

/** The value of a label. */
export const labelValue: Check<string> = function* (value, field) {
  if (value === "" || (value.length <= longestName && name.test(value))) return;
  yield {
    field,
    message: `${shown(value)} is not a label's value; allowed are at most ${longestName} letters, digits, - _ and . with a letter or digit at both ends`,
  };
};

/** The name of a namespace. */
export const namespace: Check<string> = function* (value, field) {
  if (value.length <= longestName && namespaceName.test(value)) return;
  yield { field, message: `${shown(value)} is not a namespace's name; allowed are at most ${longestName} small letters, digits and -` };
};

/** A map of annotations: its keys, and its size, which the API server bounds for all of an object's together. */
export const annotations: Check<Readonly<Record<string, string>>> = function* (values, field) {
  let bytes = 0;
  for (const key in values) {
    // The API server looks at the keys of annotations in small letters.
    const fault = keyFault(key.toLowerCase());
    if (fault !== undefined) yield { field: entryOf(field, key), message: `${shown(key)} ${fault}` };
    bytes += Buffer.byteLength(key) + Buffer.byteLength(values[key] ?? "");
  }
  if (bytes > largestAnnotations) {
    yield { field, message: `the keys and values have ${bytes} bytes together; at most ${largestAnnotations} (256 KiB) are allowed` };
  }
};

/** Keys under the operator's own domain are its own: it finds its Pods by them. */
export const notOurs: Check<Readonly<Record<string, unknown>>> = function* (values, field): Generator<Violation> {
  for (const key in values) {
    const prefix = key.slice(0, Math.max(0, key.indexOf("/"))).toLowerCase();
    if (prefix === ownDomain || prefix.endsWith(`.${ownDomain}`)) {
      yield {
        field: entryOf(field, key),
        message: `${shown(key)} is under ${ownDomain}/, which is the operator's own; any other domain is allowed`,
      };
    }
  }
};
