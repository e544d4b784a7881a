// A line of figures as a picture for a terminal.

const height = 12;

/** One column a value, the axis from zero: growth that looks steep is steep. */
export function plot(title: string, values: readonly number[]): string {
  const most = Math.max(...values, 1);
  const rows = Array.from({ length: height }, (_, row) => {
    const threshold = (most * (height - row - 0.5)) / height;
    const label = row % 3 === 0 ? ((most * (height - row)) / height).toFixed(0) : "";
    return `${label.padStart(6)} │${values.map((value) => (value >= threshold ? "█" : " ")).join("")}\n`;
  });
  return `${title}\n${rows.join("")}       └${"─".repeat(values.length)}\n`;
}
