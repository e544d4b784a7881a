// CPU, memory and the like of each Pod, as the API server will want them in the Pod.
import { compareQuantities, parseQuantity } from "../../kubernetes/quantity.ts";
import { type Check, entryOf, shown, type Violation } from "./violation.ts";

type ResourceList = Readonly<Record<string, string | number>>;

interface Resources {
  readonly requests?: ResourceList | undefined;
  readonly limits?: ResourceList | undefined;
}

const plainResources = new Set(["cpu", "memory", "ephemeral-storage"]);
const hugePages = "hugepages-";

function isResource(name: string): boolean {
  return plainResources.has(name) || (name.startsWith(hugePages) && (parseQuantity(name.slice(hugePages.length)) ?? 0n) > 0n);
}

function* list(resources: ResourceList, field: string): Generator<Violation> {
  for (const [name, value] of Object.entries(resources)) {
    const place = entryOf(field, name);
    if (!isResource(name)) {
      yield {
        field: place,
        message: `${shown(name)} is not a resource of an instance; allowed are cpu, memory, ephemeral-storage and hugepages-<size>`,
      };
    } else if (parseQuantity(value) === undefined) {
      yield {
        field: place,
        message: `${shown(value)} is not a quantity; allowed is a number with or without a unit, such as 500m for cpu or 1Gi for memory`,
      };
    } else if (name !== "cpu" && /[num]$/.test(String(value))) {
      // 512m of memory is half a byte: the Pod would never start, and nobody means it.
      yield {
        field: place,
        message: `${shown(value)} of ${name} is a part of a byte; write ${String(value).slice(0, -1)}Mi for mebibytes`,
      };
    }
  }
}

function* requestsWithinLimits({ requests = {}, limits = {} }: Resources, field: string): Generator<Violation> {
  for (const [name, request] of Object.entries(requests)) {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    const order = limit === undefined ? undefined : compareQuantities(request, limit);
    const place = entryOf(`${field}.requests`, name);
    if (name.startsWith(hugePages)) {
      // Huge pages are never lent: the API server takes a request only beside the same limit.
      if (limit === undefined)
        yield {
          field: place,
          message: `${shown(request)} needs the same in ${entryOf("limits", name)}; huge pages can't be overcommitted`,
        };
      else if (order !== undefined && order !== 0)
        yield { field: place, message: `${shown(request)} differs from the limit ${shown(limit)}; for huge pages both must be the same` };
    } else if (limit !== undefined && order !== undefined && order > 0) {
      yield { field: place, message: `${shown(request)} is above the limit ${shown(limit)}; a request may be at most the limit` };
    }
  }
}

function* hugePagesBesideOthers({ requests = {}, limits = {} }: Resources, field: string): Generator<Violation> {
  const names = [...Object.keys(requests), ...Object.keys(limits)];
  const huge = names.find((name) => name.startsWith(hugePages));
  if (huge === undefined || names.includes("cpu") || names.includes("memory")) return;
  yield { field, message: `${shown(huge)} stands alone; huge pages need cpu or memory beside them` };
}

export const resources: Check<Resources> = function* (value, field) {
  if (value.requests) yield* list(value.requests, `${field}.requests`);
  if (value.limits) yield* list(value.limits, `${field}.limits`);
  yield* requestsWithinLimits(value, field);
  yield* hugePagesBesideOthers(value, field);
};
