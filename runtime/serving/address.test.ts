import { expect, test } from "vitest";
import { type Address, addressText, isLoopback, parseAddress } from "./address.ts";

test.each<[string, Address | undefined, string?, boolean?]>([
  [":8081", { host: undefined, port: 8081 }, ":8081", false],
  ["127.0.0.1:8081", { host: "127.0.0.1", port: 8081 }, "127.0.0.1:8081", true],
  ["127.1.2.3:0", { host: "127.1.2.3", port: 0 }, "127.1.2.3:0", true],
  ["[::1]:8081", { host: "::1", port: 8081 }, "[::1]:8081", true],
  ["[::]:8081", { host: "::", port: 8081 }, "[::]:8081", false],
  ["0.0.0.0:65535", { host: "0.0.0.0", port: 65_535 }, "0.0.0.0:65535", false],
  ["localhost:8081", { host: "localhost", port: 8081 }, "localhost:8081", true],
  ["127.evil.example:80", { host: "127.evil.example", port: 80 }, "127.evil.example:80", false],
  ["0", undefined],
])("the address %s", (text, address, written, loopback) => {
  const parsed = parseAddress("--flag", text);
  expect(parsed).toEqual(address);
  if (parsed) expect([addressText(parsed), isLoopback(parsed)]).toEqual([written, loopback]);
});

test.each([
  "",
  ":",
  "8081",
  ":x",
  ":65536",
  ":-1",
  "::1:8081",
  "[::1]",
  "[x]:1",
  "[]:1",
  "a b:1",
  "http://x:1",
  ":8081 ",
  "127.0.0.1:8081\n",
])("the address %j is refused with the flag's name", (text) => {
  expect(() => parseAddress("--flag", text)).toThrow(
    `--flag must look like :8081, 127.0.0.1:8081 or [::1]:8081, or be 0 to switch it off, and is ${JSON.stringify(text)}`,
  );
});
