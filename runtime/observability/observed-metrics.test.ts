import { expect, test } from "vitest";
import { samples } from "./metric-samples.fixture.ts";
import { createMetrics } from "./metrics.ts";

interface Thing {
  readonly name: string;
  readonly size?: number;
  readonly changes: number;
}

test("things that come and go have series while they exist, and are read once a scrape", async () => {
  const metrics = createMetrics({ processMetrics: false });
  let things: Thing[] = [{ name: "a", size: 1, changes: 0 }];
  let asked = 0;
  metrics.observe<Thing>({
    labelNames: ["name"],
    labels: ({ name }) => ({ name }),
    families: [
      { type: "gauge", name: "size", help: "Size", read: ({ size }) => size },
      { type: "counter", name: "changes_total", help: "Changes", read: ({ changes }) => changes },
    ],
    things: () => {
      asked++;
      return things;
    },
  });
  expect(await samples(metrics)).toEqual({ 'size{name="a"}': 1, 'changes_total{name="a"}': 0 });
  things = [
    { name: "a", changes: 2 },
    { name: "b", size: -3, changes: 1 },
  ];
  expect(await samples(metrics)).toEqual({ 'size{name="b"}': -3, 'changes_total{name="a"}': 2, 'changes_total{name="b"}': 1 });
  things = [];
  expect(await samples(metrics)).toEqual({});
  expect(asked).toBe(3);
});

test("a duration metric exists from the start, with its buckets", async () => {
  const metrics = createMetrics({ processMetrics: false });
  const took = metrics.duration("taking_seconds", "How long it took", [1, 10]);
  expect(await samples(metrics)).toMatchObject({ taking_seconds_count: 0 });
  took(5);
  expect(await metrics.text()).toContain('taking_seconds_bucket{le="10"} 1');
});
