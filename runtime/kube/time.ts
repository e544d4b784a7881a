// Times in the formats of Kubernetes.

/** metav1.MicroTime: the API server requires six fractional digits. */
export function microTime(time: Date): string {
  return time.toISOString().replace(/\.(\d{3})Z$/, ".$1000Z");
}
