// Times as Kubernetes writes them.

/** metav1.MicroTime: six fractional digits, or the API server refuses it. */
export function microTime(time: Date): string {
  return time.toISOString().replace(/\.(\d{3})Z$/, ".$1000Z");
}
