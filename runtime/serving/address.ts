// The address of a server as flags give it: `:8081`, `127.0.0.1:8081`, `[::1]:8081`, and `0` for none.
import { isIPv4, isIPv6 } from "node:net";

export interface Address {
  /** Undefined: all addresses of this machine, IPv4 and IPv6. */
  readonly host: string | undefined;
  /** 0: any free port. */
  readonly port: number;
}

/** Undefined for `0`: no server. */
export function parseAddress(flag: string, text: string): Address | undefined {
  if (text === "0") return undefined;
  const match = /^(?:\[([^\]]*)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text);
  const [, bracketed, plain, digits] = match ?? [];
  const port = Number(digits);
  if (!match || port > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) {
    throw new Error(`${flag} must look like :8081, 127.0.0.1:8081 or [::1]:8081, or be 0 to switch it off, and is ${JSON.stringify(text)}`);
  }
  return { host: bracketed || plain || undefined, port };
}

export function addressText({ host = "", port }: Address): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether only this machine can reach the address. */
export function isLoopback({ host }: Address): boolean {
  return host === "localhost" || host === "::1" || (host !== undefined && isIPv4(host) && host.startsWith("127."));
}
