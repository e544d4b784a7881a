// What was measured, as a table: ours, the peer's of the same run, their ratio, and what is wanted. Nothing fails on a figure.

export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly ours: number | undefined;
  /** What the same objects do that were applied by hand, without an operator. */
  readonly peer?: number | undefined;
  readonly wanted?: Wanted;
}

type Wanted =
  | { readonly most: number }
  | { readonly mostAbovePeer: number }
  | { readonly mostTimesPeer: number }
  | { readonly leastTimesPeer: number };

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  if (low === undefined || high === undefined) throw new Error("nothing was measured");
  return (low + high) / 2;
}

export function printFigures(title: string, figures: readonly Figure[], peer = "by hand"): void {
  process.stdout.write(`\n${[title, ...figureLines(figures, peer)].join("\n")}\n`);
}

export function figureLines(figures: readonly Figure[], peer = "by hand"): string[] {
  const width = Math.max(...figures.map((figure) => labelOf(figure).length)) + 2;
  const line = (label: string, cells: readonly string[], wanted: string) =>
    `${label.padEnd(width)}${cells.map((cell) => cell.padStart(9)).join("")}   ${wanted}`.trimEnd();
  return [
    line("", ["ours", peer, "ratio"], "wanted"),
    ...figures.map((figure) =>
      line(labelOf(figure), [shown(figure.ours), shown(figure.peer), ratioOf(figure)?.toFixed(2) ?? ""], judged(figure)),
    ),
  ];
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
  if (ratio === undefined || figure.peer === undefined) return "not measured";
  if ("mostAbovePeer" in wanted)
    return `at most ${wanted.mostAbovePeer} more: ${ours - figure.peer <= wanted.mostAbovePeer ? "met" : "MISSED"}`;
  if ("leastTimesPeer" in wanted) return `at least ${wanted.leastTimesPeer} times: ${ratio >= wanted.leastTimesPeer ? "met" : "MISSED"}`;
  return `at most ${wanted.mostTimesPeer} times: ${ratio <= wanted.mostTimesPeer ? "met" : "MISSED"}`;
}

function shown(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
