// The operator as a user deploys it, for the length of a suite.
import { afterAll, beforeAll } from "vitest";
import { OperatorDeployment, type OperatorPod } from "../database/operator-deployment.ts";
import { kubectl } from "./test-cluster.ts";

export const operator = new OperatorDeployment(kubectl);
export const { system } = operator;

export function make(target: string): Promise<void> {
  return operator.make(target);
}

export function deployedOperator(): void {
  beforeAll(async () => {
    await make("deploy");
    await operatorReady();
  });
  afterAll(() => make("undeploy"));
}

export function operatorReady(): Promise<void> {
  return operator.ready();
}

/** The Pod that holds the lease, and its node. */
export function leadingOperator(): Promise<OperatorPod> {
  return operator.leader();
}
