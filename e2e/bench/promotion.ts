// How long a promotion takes, by the log of the server that was promoted. Pure.

const line = (words: string) => new RegExp(`^(\\d{4}-\\d\\d-\\d\\d) (\\d\\d:\\d\\d:\\d\\d\\.\\d{3}) UTC .*${words}`);
const asked = line("received promote request");
const done = line("database system is ready to accept connections");

/** Seconds from the request to the first write that it would take; of the last promotion in the log. */
export function promotionSeconds(log: string): number {
  const lines = log.split("\n");
  const begin = lines.findLastIndex((each) => asked.test(each));
  const began = momentOf(lines[begin], asked);
  const ended = momentOf(
    lines.slice(begin).find((each) => done.test(each)),
    done,
  );
  if (began === undefined || ended === undefined) throw new Error("the log tells of no promotion");
  return (ended - began) / 1000;
}

function momentOf(text: string | undefined, pattern: RegExp): number | undefined {
  const [, day, time] = pattern.exec(text ?? "") ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${time}Z`);
}
