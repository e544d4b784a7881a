// Whether an object is already in its desired state. Pure. It tolerates the changes that the API server makes to each write: it
// fills in defaults, drops empty values, and normalizes quantities.
//
// A change of the server that is unknown here, such as a dropped zero, looks like a difference and costs one write too many. The
// opposite mistake, a difference that is overlooked, would never be corrected.
import { compareQuantities } from "../../kubernetes/quantity.ts";

/** True when `live` has every value of `desired`. It may have more: defaults, and fields of other writers. */
export function covers(live: unknown, desired: unknown): boolean {
  return coversAt(live, desired, "", undefined);
}

/** True when both are equal; an undefined field equals an absent one. */
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

/** The path to a value, from its end. Items of a list have the path of the list. */
interface Place {
  readonly name: string;
  readonly parent: Place | undefined;
}

/** Fields that are quantities, and maps whose values all are, each by the name of the field that contains it. */
const quantityFields: Readonly<Record<string, string>> = { sizeLimit: "emptyDir", divisor: "resourceFieldRef" };
const quantityMaps: Readonly<Record<string, string>> = {
  limits: "resources",
  requests: "resources",
  capacity: "spec",
  hard: "spec",
  overhead: "spec",
};

/**
 * Lists whose items have an identity, as in the API (`x-kubernetes-list-map-keys`). Items of other writers, such as a sidecar or a
 * second owner, are no difference in them. Every other list is compared as one value.
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

/** Defaults of identity fields. */
const identityDefaults: Readonly<Record<string, unknown>> = { protocol: "TCP" };

/** Maps that are compared as one value: an additional entry makes them select something else. */
const wholes = new Set(["selector", "matchLabels", "podSelector", "namespaceSelector", "labelSelector", "nodeSelector"]);

/** Maps that the API server drops when they are empty. It keeps an empty struct: `emptyDir: {}` is meaningful. */
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
  if (place.name === "finalizers") return desired.every((item) => live.includes(item)); // others may have finalizers too
  const identity = identities[`${place.parent?.name}.${place.name}`] ?? identities[place.name];
  if (identity === undefined)
    return live.length === desired.length && desired.every((item, index) => coversAt(live[index], item, place.name, place.parent));
  // Order matters, with items of others in between: a variable can only refer to earlier ones. An apply restores the order.
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
