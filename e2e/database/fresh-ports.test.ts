// Ports that no connection has used before.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshPorts } from "./fresh-ports.ts";

test("two programs that share the file get different ports, below those of the kernel; at the end of the range it begins anew", () => {
  const directory = mkdtempSync(join(tmpdir(), "sampledb-ports-"));
  try {
    const path = join(directory, "ports");
    const ports = [...freshPorts(path, 100), ...freshPorts(path, 20)];
    expect(new Set(ports).size).toBe(120);
    writeFileSync(path, "31990");
    expect(freshPorts(path, 20)[0]).toBe(20_000);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
