// The operator as a user deploys it, for the length of a suite.
import { afterAll, beforeAll } from "vitest";
import { Operator } from "../database/operator.ts";
import { kubectl } from "./test-cluster.ts";

export const operator = new Operator(kubectl);
export const { system } = operator;

export function deployedOperator(): void {
  beforeAll(async () => {
    await operator.make("deploy");
    await operator.ready();
  });
  afterAll(() => operator.make("undeploy"));
}
