import { expect, test } from "vitest";
import { FakeClock, settle } from "../fake-clock.fixture.ts";
import { Access, type Reviewer } from "./access.ts";

/** Knows the tokens `reader` and `stranger`, and counts requests. */
function fakeReviewer() {
  const asked: { kind: string; spec: Record<string, unknown> }[] = [];
  const answers = { allowed: true, denied: false, hold: undefined as Promise<void> | undefined };
  const raw = async (_method: string, _path: string, body: object) => {
    const review = body as (typeof asked)[number];
    asked.push(review);
    await answers.hold;
    if (review.kind === "SubjectAccessReview")
      return { status: { allowed: answers.allowed && review.spec["user"] === "reader", denied: answers.denied } };
    const { token } = review.spec as { token: string };
    if (token !== "reader" && token !== "stranger") return { status: { error: "invalid bearer token" } };
    return { status: { authenticated: true, user: { username: token, uid: "1", groups: ["g"], extra: { x: ["y"] } } } };
  };
  return { asked, answers, reviewer: { raw } as unknown as Reviewer };
}

test.each<[string | undefined, string, number]>([
  [undefined, "unauthenticated", 0],
  ["", "unauthenticated", 0],
  ["Bearer", "unauthenticated", 0],
  ["Bearer ", "unauthenticated", 0],
  ["Basic cmVhZGVy", "unauthenticated", 0],
  ["Bearer reader stranger", "unauthenticated", 0],
  ["Bearer garbage", "unauthenticated", 1],
  ["Bearer stranger", "forbidden", 2],
  ["Bearer reader", "allowed", 2],
  ["bearer reader", "allowed", 2],
])("authorization %j is %s after %i reviews", async (authorization, kind, reviews) => {
  const { reviewer, asked } = fakeReviewer();
  expect((await new Access(reviewer, "/metrics").review(authorization)).kind).toBe(kind);
  expect(asked).toHaveLength(reviews);
});

test("the access review has the user as the API server returned it, and GET of the path", async () => {
  const { reviewer, asked } = fakeReviewer();
  await new Access(reviewer, "/metrics").review("Bearer reader");
  expect(asked[1]?.spec).toEqual({
    user: "reader",
    uid: "1",
    groups: ["g"],
    extra: { x: ["y"] },
    nonResourceAttributes: { path: "/metrics", verb: "get" },
  });
});

test("a review that both allows and denies counts as denied", async () => {
  const { reviewer, answers } = fakeReviewer();
  answers.denied = true;
  expect(await new Access(reviewer, "/metrics").review("Bearer reader")).toEqual({ kind: "forbidden", user: "reader" });
});

test("the user of a token is cached for a minute, a permission for five, a denial for half a minute", async () => {
  const { reviewer, asked, answers } = fakeReviewer();
  const clock = new FakeClock();
  const access = new Access(reviewer, "/metrics", clock);
  const reviewed = async (token: string) => {
    asked.length = 0;
    const { kind } = await access.review(`Bearer ${token}`);
    return [kind, ...asked.map((review) => review.kind)];
  };
  const both = ["TokenReview", "SubjectAccessReview"];
  expect(await reviewed("reader")).toEqual(["allowed", ...both]);
  expect(await reviewed("stranger")).toEqual(["forbidden", ...both]);
  await clock.advance(29_999);
  answers.allowed = false;
  expect(await reviewed("reader")).toEqual(["allowed"]);
  expect(await reviewed("stranger")).toEqual(["forbidden"]);
  await clock.advance(1);
  expect(await reviewed("stranger")).toEqual(["forbidden", "SubjectAccessReview"]);
  await clock.advance(30_000);
  expect(await reviewed("reader")).toEqual(["allowed", "TokenReview"]);
  await clock.advance(240_000);
  expect(await reviewed("reader")).toEqual(["forbidden", ...both]);
  expect(await reviewed("garbage")).toEqual(["unauthenticated", "TokenReview"]);
  expect(await reviewed("garbage")).toEqual(["unauthenticated", "TokenReview"]);
});

test("invented tokens take few connections, and don't lock out known users", async () => {
  const { reviewer, asked, answers } = fakeReviewer();
  const access = new Access(reviewer, "/metrics");
  await access.review("Bearer reader");
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.hold = promise;
  const crowd = Array.from({ length: 50 }, (_, index) => access.review(`Bearer garbage-${index}`));
  await settle();
  expect(asked).toHaveLength(2 + 8);
  expect((await access.review("Bearer reader")).kind).toBe("allowed");
  resolve();
  const kinds = (await Promise.all(crowd)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "busy")).toHaveLength(42);
  expect((await access.review("Bearer garbage-50")).kind).toBe("unauthenticated");
});

test("a review rejects when the API server does not answer, and the next one asks again", async () => {
  const { reviewer, answers } = fakeReviewer();
  const access = new Access(reviewer, "/metrics");
  answers.hold = Promise.reject(new Error("away"));
  await expect(access.review("Bearer reader")).rejects.toThrow("away");
  answers.hold = undefined;
  expect((await access.review("Bearer reader")).kind).toBe("allowed");
});
