// The forwarded stream and its ends, over a WebSocket of the test's own that speaks like the kubelet; e2e suites use a real one.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { kubeConfigFromFile } from "./kube-config.ts";
import { portForward } from "./port-forward.ts";

const pod = { namespace: "ns", name: "db-0" };
const port = Buffer.of(8008 & 0xff, 8008 >> 8);
const never = new AbortController().signal;
let script: (message: Buffer, send: (channel: number, data: string | Buffer) => void, socket: Socket) => void = () => undefined;
let path = "";
const sockets = new Set<Socket>();

const server = createServer((_, response) => void response.writeHead(403).end());
server.on("upgrade", (request, socket: Socket) => {
  path = request.url ?? "";
  if (path.includes("/forbidden/")) return void socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
  if (path.includes("/slow/")) return;
  sockets.add(socket);
  socket.on("error", () => undefined).on("end", () => socket.end());
  socket.once("close", () => sockets.delete(socket));
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-protocol: v4.channel.k8s.io\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  const send = (channel: number, data: string | Buffer) => socket.write(frame(Buffer.concat([Buffer.of(channel), Buffer.from(data)])));
  send(0, port);
  send(1, port);
  socket.on("data", (data) => {
    if ((data[0] ?? 0) === 0x82) script(unmask(data), send, socket);
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(() => server.close());

const directory = mkdtempSync(join(tmpdir(), "port-forward-"));
afterAll(() => rmSync(directory, { recursive: true }));
const file = join(directory, "kubeconfig");
writeFileSync(
  file,
  `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:${(server.address() as AddressInfo).port}", insecure-skip-tls-verify: true}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
`,
);
const config = kubeConfigFromFile(file);

test("bytes go both ways, without the port number at the start of each channel", async () => {
  script = (message, send) => send(0, Buffer.concat([Buffer.from("you said "), message.subarray(1)]));
  const connection = await portForward(config, pod, 8008, never);
  expect(path).toBe("/api/v1/namespaces/ns/pods/db-0/portforward?ports=8008");
  connection.write("hello");
  expect(String(await once(connection, "data"))).toBe("you said hello");
  connection.destroy();
  await expect.poll(() => sockets.size).toBe(0);
});

test("the stream ends when the other side closes", async () => {
  script = (_, send, socket) => {
    send(0, "bye");
    socket.end(Buffer.of(0x88, 0));
  };
  const connection = await portForward(config, pod, 8008, never);
  connection.write("hello");
  const received: string[] = [];
  for await (const data of connection) received.push(String(data));
  expect(received).toEqual(["bye"]);
});

test("the kubelet's error message reaches the reader", async () => {
  script = (_, send) => send(1, "error forwarding port 8008 to pod: connection refused\n");
  const connection = await portForward(config, pod, 8008, never);
  connection.write("hello");
  await expect(once(connection, "data")).rejects.toThrow("port 8008 of Pod ns/db-0: error forwarding port 8008 to pod: connection refused");
});

test("a user without the right to forward gets an error", async () => {
  await expect(portForward(config, { ...pod, namespace: "forbidden" }, 8008, never)).rejects.toThrow(
    "port 8008 of Pod forbidden/db-0: Unexpected server response: 403",
  );
});

test("a forward to an API server that does not answer can be aborted", async () => {
  const end = new AbortController();
  const forwarded = portForward(config, { ...pod, namespace: "slow" }, 8008, end.signal);
  setTimeout(() => end.abort(new Error("enough")), 50);
  await expect(forwarded).rejects.toThrow("enough");
  await expect(portForward(config, pod, 8008, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
});

/** Short messages only. */
function frame(data: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0x82, data.length), data]);
}

function unmask(data: Buffer): Buffer {
  const mask = data.subarray(2, 6);
  return data.subarray(6, 6 + ((data[1] ?? 0) & 0x7f)).map((byte, at) => byte ^ (mask[at % 4] ?? 0)) as Buffer;
}
