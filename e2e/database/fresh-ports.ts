// Ports to connect from that nobody has connected from before.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** Below those that the kernel hands out by itself (32768 and above, net.ipv4.ip_local_port_range). */
const [lowest, highest] = [20_000, 32_000];

/**
 * So many ports that no connection of this Pod has used, across all programs that share the file.
 *
 * A node remembers for 120 s where kube-proxy has sent the first packet of a connection that was never answered
 * (nf_conntrack_tcp_timeout_syn_sent), by its two addresses and two ports. Whoever tries a server that is lost leaves such a memory with
 * each attempt. A connection from the same port is the same one to the node, and goes to the lost server, wherever the Service leads by
 * then. The kernel does choose the same port again: it goes through a random part of its range for ten seconds, and then through another.
 */
export function freshPorts(path: string, count: number): number[] {
  const first = existsSync(path) ? Number(readFileSync(path, "utf8")) : lowest;
  const begin = first + count > highest ? lowest : first;
  writeFileSync(path, String(begin + count));
  return Array.from({ length: count }, (_, index) => begin + index);
}
