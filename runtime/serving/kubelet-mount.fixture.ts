// A directory for tests that is changed as the kubelet changes a mounted Secret.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CertifiedKey } from "../certificates/issue.ts";

export class KubeletMount {
  readonly directory = mkdtempSync(join(tmpdir(), "mounted-"));
  #version = 0;

  constructor(pair: CertifiedKey) {
    this.swap(pair);
    for (const name of ["tls.crt", "tls.key"]) symlinkSync(join("..data", name), join(this.directory, name));
  }

  /** The files are links into `..data`, a link that is swapped in one step; then the former version is removed. */
  swap({ certificate, key }: CertifiedKey): void {
    const before = this.#version++;
    const version = `..${this.#version}`;
    mkdirSync(join(this.directory, version));
    writeFileSync(join(this.directory, version, "tls.crt"), certificate);
    writeFileSync(join(this.directory, version, "tls.key"), key);
    symlinkSync(version, join(this.directory, "..data_tmp"));
    renameSync(join(this.directory, "..data_tmp"), join(this.directory, "..data"));
    rmSync(join(this.directory, `..${before}`), { recursive: true, force: true });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
