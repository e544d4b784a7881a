// What was measured, as a table: ours, the peer's of the same run, their ratio, and what is wanted. Nothing fails on a figure.

export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly ours: number | undefined;
  /** What the same objects do that were applied by hand, without an operator. */
  readonly peer?: number | undefined;
  readonly wanted?: Wanted;
}

type Wanted = { readonly most: number } | { readonly mostTimesPeer: number };

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  if (low === undefined || high === undefined) throw new Error("nothing was measured");
  return (low + high) / 2;
}

export function printFigures(title: string, figures: readonly Figure[]): void {
  const out = (text: string) => process.stdout.write(`${text}\n`);
  const width = Math.max(...figures.map((figure) => labelOf(figure).length)) + 2;
  out(`\n${title}`);
  out(`${"".padEnd(width)}${"ours".padStart(9)}${"by hand".padStart(9)}${"ratio".padStart(7)}   wanted`);
  for (const figure of figures) {
    const { ours, peer } = figure;
    const ratio = ratioOf(figure);
    const cells = [shown(ours).padStart(9), shown(peer).padStart(9), (ratio === undefined ? "" : ratio.toFixed(2)).padStart(7)];
    out(`${labelOf(figure).padEnd(width)}${cells.join("")}   ${judged(figure)}`);
  }
}

function labelOf({ what, unit }: Figure): string {
  return unit === "" ? what : `${what}, ${unit}`;
}

function ratioOf({ ours, peer }: Figure): number | undefined {
  return ours !== undefined && peer ? ours / peer : undefined;
}

function judged(figure: Figure): string {
  const { wanted, ours } = figure;
  if (wanted === undefined) return "";
  if (ours === undefined) return "not measured";
  if ("most" in wanted) return `at most ${wanted.most}: ${ours <= wanted.most ? "met" : "MISSED"}`;
  const ratio = ratioOf(figure);
  if (ratio === undefined) return "not measured";
  return `at most ${wanted.mostTimesPeer} times: ${ratio <= wanted.mostTimesPeer ? "met" : "MISSED"}`;
}

function shown(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
