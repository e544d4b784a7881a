// For tests: what a reconcile may have observed, with everything well unless told.
import { StepError } from "../../runtime/controller/steps.ts";
import type { Instance } from "../database/instance.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { Pod } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import type { StatusInputs } from "./report/readiness.ts";
import type { Findings, Observed } from "./scope.ts";

export const now = () => new Date("2026-05-04T03:02:01.500Z");

export function instance(ordinal: number, told: Partial<Instance> = {}): Instance {
  return {
    podName: `orders-${ordinal}`,
    uid: `uid-${ordinal}`,
    ordinal,
    ready: true,
    going: false,
    role: "Replica",
    timeline: 1,
    node: `node-${ordinal}`,
    address: `10.0.0.${ordinal}`,
    starting: false,
    streaming: told.role !== "Primary",
    mayTakeOver: told.role !== "Primary",
    pendingRestart: undefined,
    heldSettings: [],
    asked: "now",
    revision: undefined,
    takesWrites: told.role === "Primary",
    problem: undefined,
    ended: undefined,
    ...told,
  };
}

export const primary = (ordinal: number, told: Partial<Instance> = {}) => instance(ordinal, { role: "Primary", ...told });

export function observed(instances: readonly Instance[], told: Partial<Observed> = {}): Observed {
  return {
    statefulSet: undefined,
    range: { start: 0, count: instances.length },
    instances,
    primary: instances.find(({ role }) => role === "Primary"),
    commitsWait: true,
    claims: new Map(),
    dynamicConfig: undefined,
    leader: undefined,
    failover: undefined,
    writeSlice: undefined,
    initJob: undefined,
    trialJob: undefined,
    rotationJob: undefined,
    jobPods: new Map(),
    initialized: true,
    bootstrapping: false,
    ...told,
  };
}

export function findings(told: Partial<Findings> = {}): Findings {
  return {
    blockers: [],
    trial: { kind: "accepted" },
    initialization: { kind: "done", message: "made role app" },
    rollout: undefined,
    settling: false,
    serving: undefined,
    passwordWaits: false,
    volumesReady: true,
    switchoverOrdered: false,
    invalid: undefined,
    upgrade: undefined,
    ...told,
  };
}

interface Situation {
  readonly db?: SampleDB;
  readonly instances?: readonly Instance[];
  readonly observed?: Partial<Observed>;
  readonly findings?: Partial<Findings>;
  readonly errors?: readonly Error[];
  readonly version?: string;
}

/** A database of one instance that serves, unless told. */
export function situation({ db = sampleDB(), instances = [primary(0)], version, ...told }: Situation = {}): StatusInputs {
  const errors = (told.errors ?? []).map((cause) => new StepError("step", cause));
  const found = findings(told.findings);
  return { db, observed: observed(instances, told.observed), findings: found, outcome: { errors }, version, now };
}

/** A Pod as the kubelet and Patroni write it. `status` is Patroni's annotation, as it is or as an object. */
export function pod(
  name: string,
  {
    status,
    ready = true,
    ...told
  }: {
    status?: object | string;
    ready?: boolean;
    metadata?: Partial<Pod["metadata"]>;
    conditions?: NonNullable<Pod["status"]>["conditions"];
    containerStatuses?: object[];
    podIPs?: { readonly ip: string }[];
  } = {},
): Pod {
  const { annotations, ...metadata } = told.metadata ?? {};
  const patroni = status === undefined ? {} : { status: typeof status === "string" ? status : JSON.stringify(status) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", uid: `uid-of-${name}`, ...metadata, annotations: { ...annotations, ...patroni } },
    status: {
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }, ...(told.conditions ?? [])],
      ...(told.podIPs && { podIPs: told.podIPs }),
      containerStatuses: (told.containerStatuses ?? []) as NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>,
    },
  };
}
