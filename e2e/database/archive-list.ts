// What an archive holds, by the names of its files: whether every segment from the first to the last is there. Pure functions.

const segmentName = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})(-[0-9a-f]{40}(\.[a-z0-9]+)?)?$/; // no .partial: the next timeline has the whole one
const segmentsInLog = 256; // of 16 MiB each

/** The numbers of the segments, over all timelines: the position in the log says where a segment belongs, whichever history wrote it. */
export function segmentNumbers(files: readonly string[]): number[] {
  const numbers = files.flatMap((file) => {
    const [, , log, segment] = segmentName.exec(file.slice(file.lastIndexOf("/") + 1)) ?? [];
    return log === undefined || segment === undefined ? [] : [Number.parseInt(log, 16) * segmentsInLog + Number.parseInt(segment, 16)];
  });
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** The numbers that are missing up to the last that is there: from the first that is there, or from `begin`. */
export function missingNumbers(files: readonly string[], begin?: number): number[] {
  const numbers = segmentNumbers(files);
  const first = begin ?? numbers.at(0) ?? 0;
  const length = Math.max(0, (numbers.at(-1) ?? 0) - first + 1);
  return Array.from({ length }, (_, index) => first + index).filter((number) => !numbers.includes(number));
}

/** The timelines that have segments and no history: nobody could follow the log to them. The first has none. */
export function withoutHistory(files: readonly string[]): string[] {
  const names = files.map((file) => file.slice(file.lastIndexOf("/") + 1));
  const timelines = new Set(names.flatMap((name) => segmentName.exec(name)?.[1] ?? []));
  return [...timelines].filter((timeline) => timeline !== "00000001" && !names.includes(`${timeline}.history`));
}
