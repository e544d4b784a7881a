// Patroni's REST API as far as the operator asks it of a healthy instance: its status, under the database's own certificate.
import type { Server } from "node:net";
import { patroniPort } from "../../controllers/desired/services.ts";
import { answerJson, type Served } from "./json-server.ts";

const status = { state: "running", server_version: 170_005, timeline: 1, patroni: { version: "4.0.7" }, pending_restart: false };

export async function startPatroni(address: string, role: "primary" | "replica", served: Served): Promise<Server> {
  return await answerJson(address, patroniPort, () => ({ ...status, role }), served);
}
