import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { dialDirectly } from "./dial.ts";

const pod = { namespace: "ns", name: "db-0", ip: "127.0.0.1" };

test("a connection outlives the signal that bounded its making", async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const end = new AbortController();
  const socket = await dialDirectly(pod, (server.address() as AddressInfo).port, end.signal);
  end.abort();
  socket.write("hello");
  const [data] = (await once(socket, "data")) as [Buffer];
  expect(data.toString()).toBe("hello");
  socket.destroy();
  server.close();
});

test("a connection that is refused, or given up by its signal, rejects", async () => {
  await expect(dialDirectly(pod, 1, new AbortController().signal)).rejects.toThrow("ECONNREFUSED");
  await expect(dialDirectly(pod, 1, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  const end = new AbortController();
  const dialled = dialDirectly({ ...pod, ip: "192.0.2.1" }, 8008, end.signal); // an address that no machine has
  end.abort(new Error("enough"));
  await expect(dialled).rejects.toThrow(/enough|ENETUNREACH|EHOSTUNREACH/);
});
