// Whether an object is already as it is wanted: pure, and a little generous, because the API server fills in defaults,
// drops what is empty, and writes quantities in its own way.
//
// What it does not know of, such as a zero that the server drops, looks like a difference: that costs one write too many. The
// other mistake, a difference that is not seen, would be for ever.
import { compareQuantities } from "../../kubernetes/quantity.ts";

/** True when all that `desired` says is so in `live`, which may say more: defaults, and what others own. */
export function covers(live: unknown, desired: unknown): boolean {
  return coversAt(live, desired, "", undefined);
}

/** True when both say the same; what is undefined is not there. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  for (const name in a) if (!sameValue((a as Fields)[name], (b as Fields)[name])) return false;
  for (const name in b) if (!Object.hasOwn(a, name) && (b as Fields)[name] !== undefined) return false;
  return true;
}

type Fields = Record<string, unknown>;

/** Where in the object a value is; the items of a list are at the place of the list. */
interface Place {
  readonly name: string;
  readonly parent: Place | undefined;
}

/** Fields whose values are quantities when they are in a field of that name, and what holds the ones that a map has under any name. */
const quantityFields: Readonly<Record<string, string>> = { sizeLimit: "emptyDir", divisor: "resourceFieldRef" };
const quantityMaps: Readonly<Record<string, string>> = {
  limits: "resources",
  requests: "resources",
  capacity: "spec",
  hard: "spec",
  overhead: "spec",
};

/**
 * Lists whose items have an identity, as the API has them (`x-kubernetes-list-map-keys`): the items of other writers, a sidecar or
 * a second owner, are no difference in them. Every other list is one value.
 */
const identities: Readonly<Record<string, readonly string[]>> = {
  ownerReferences: ["uid"],
  containers: ["name"],
  initContainers: ["name"],
  env: ["name"],
  volumes: ["name"],
  imagePullSecrets: ["name"],
  webhooks: ["name"],
  volumeMounts: ["mountPath"],
  volumeDevices: ["devicePath"],
  hostAliases: ["ip"],
  topologySpreadConstraints: ["topologyKey", "whenUnsatisfiable"],
  "containers.ports": ["containerPort", "protocol"],
  "initContainers.ports": ["containerPort", "protocol"],
  "spec.ports": ["port", "protocol"],
};

/** What an identity has where it is not said. */
const identityDefaults: Readonly<Record<string, unknown>> = { protocol: "TCP" };

/** Maps that are one value: with more in them they select something else. */
const wholes = new Set(["selector", "matchLabels", "podSelector", "namespaceSelector", "labelSelector", "nodeSelector"]);

/** Maps that the API server drops when they are empty. An empty struct it keeps, and `emptyDir: {}` says something. */
const droppedMaps = new Set(["labels", "annotations", "data", "binaryData", "matchLabels", "nodeSelector", "limits", "requests"]);

function coversAt(live: unknown, desired: unknown, name: string, parent: Place | undefined): boolean {
  if (desired === undefined || Object.is(live, desired)) return true;
  if (desired === null) return isEmpty(live);
  if (Array.isArray(desired)) return coversList(live ?? [], desired, { name, parent });
  if (typeof desired === "object") return coversMap(live, desired as Fields, { name, parent });
  return isScalar(live) && isScalar(desired) && isQuantity(name, parent) && compareQuantities(live, desired) === 0;
}

function coversMap(live: unknown, desired: Fields, place: Place): boolean {
  if (isEmpty(live) && isEmpty(desired)) return typeof live === "object" || droppedMaps.has(place.name);
  if (typeof live !== "object" || live === null || Array.isArray(live)) return false;
  if (wholes.has(place.name) && Object.keys(live).some((name) => desired[name] === undefined)) return false;
  for (const name in desired) if (!coversAt((live as Fields)[name], desired[name], name, place)) return false;
  return true;
}

function coversList(live: unknown, desired: readonly unknown[], place: Place): boolean {
  if (!Array.isArray(live)) return false;
  if (place.name === "finalizers") return desired.every((item) => live.includes(item)); // others may hold on to it as well
  const identity = identities[`${place.parent?.name}.${place.name}`] ?? identities[place.name];
  if (identity === undefined)
    return live.length === desired.length && desired.every((item, index) => coversAt(live[index], item, place.name, place.parent));
  // In the same order, with others' in between: a variable can only refer to those before it, and an apply restores it.
  let from = 0;
  return desired.every((item) => {
    from = live.findIndex((candidate, index) => index >= from && isSameItem(candidate, item, identity)) + 1;
    return from > 0 && coversAt(live[from - 1], item, place.name, place.parent);
  });
}

function isSameItem(a: unknown, b: unknown, identity: readonly string[]): boolean {
  const part = (item: unknown, name: string) => (item as Fields | null)?.[name] ?? identityDefaults[name];
  return identity.every((name) => part(a, name) === part(b, name));
}

function isQuantity(name: string, parent: Place | undefined): boolean {
  if (parent === undefined) return false;
  const holder = quantityMaps[parent.name];
  return quantityFields[name] === parent.name || (holder !== undefined && holder === parent.parent?.name);
}

function isScalar(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== "object") return false;
  for (const name in value) if ((value as Fields)[name] !== undefined) return false;
  return true;
}
