import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { TestContext } from "node:test";
import { text } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer, ReadAnswer } from "../support/front-end-server.ts";

/* The same request many times at the same moment, at two brains on one store: whoever is first, there is one run. */

const ROUNDS = 12;
const AT_EACH_BRAIN = 3;

/** Two brains on one store, and the server of their model, which holds its replies until it is let go. */
interface Pair {
  readonly brains: readonly FrontEndServer[];
  /** Resolves when so many requests follow a run. */
  readonly followed: (count: number) => Promise<void>;
  /** Counts a request that has got its answer as one that follows. */
  readonly note: () => void;
  /** Begins a round: the model holds its replies again. Returns how often it was called. */
  readonly begin: () => number;
  /** Lets the model answer. */
  readonly go: () => void;
  readonly calls: () => number;
}

async function startPair(t: TestContext): Promise<Pair> {
  let gate = Promise.withResolvers<void>();
  const held: FakeReply = (response) => void gate.promise.then(() => text("Done.")(response));
  const first = await startFrontEndServer(t, held);
  const brains = [first, await first.beside()];
  let follows = 0;
  let wake = (): void => undefined;
  const note = (): void => {
    follows += 1;
    wake();
  };
  for (const { runs } of brains) {
    const follow = runs.follow.bind(runs);
    runs.follow = (...args) => {
      note();
      return follow(...args);
    };
  }
  return {
    brains,
    note,
    followed: (count) =>
      new Promise((resolve) => {
        wake = () => void (follows >= count && resolve());
        wake();
      }),
    begin() {
      gate = Promise.withResolvers();
      follows = 0;
      return first.fake.requests.length;
    },
    go: () => gate.resolve(),
    calls: () => first.fake.requests.length,
  };
}

/** The same request at each brain several times, at once. */
function atOnce(
  { brains }: Pair,
  ask: (brain: FrontEndServer, index: number) => Promise<ReadAnswer>,
): Promise<ReadAnswer>[] {
  return Array.from({ length: AT_EACH_BRAIN * brains.length }, (_, index) => {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- there are two
    return ask(brains[index % brains.length]!, index);
  });
}

/** Checks that all requests got the answer of one run, for which the model was called once. */
async function oneRun(pair: Pair, answers: readonly Promise<ReadAnswer>[], before: number): Promise<string> {
  const all = await Promise.all(answers);
  for (const { status, text: said } of all) assert.match(`${status} ${said}`, /^200 .*Done\./su);
  const runs = new Set(all.map(({ headers }) => headers.get("x-run-id")));
  assert.equal(runs.size, 1, [...runs].join(", "));
  assert.equal(pair.calls(), before + 1, "the model is called once");
  return [...runs].join("");
}

const BODIES = {
  "/chat/completions": (said: string) => ({ model: "bunny", messages: [{ role: "user", content: said }] }),
  "/responses": (said: string) => ({ model: "bunny", input: said }),
} as const;

suite("the same request at the same moment at two brains", () => {
  for (const path of ["/chat/completions", "/responses"] as const) {
    test(`is one run on ${path}, and another one when that is over`, async (t) => {
      const pair = await startPair(t);
      const ids = new Set<string>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = pair.begin();
        // Every other round says again what an earlier one said, whose run is over.
        const body = BODIES[path](`count the files, ${round >> 1}`);
        const answers = atOnce(pair, (brain) => brain.ask("POST", path, { body }));
        await pair.followed(answers.length);
        pair.go();
        ids.add(await oneRun(pair, answers, before));
      }
      assert.equal(ids.size, ROUNDS);
    });

    test(`is one run under a key on ${path}, also when that is over`, async (t) => {
      const pair = await startPair(t);
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = pair.begin();
        const headers = { "idempotency-key": `key-${round}` };
        const ask = (brain: FrontEndServer): Promise<ReadAnswer> =>
          brain.ask("POST", path, { body: BODIES[path]("count the files"), headers });
        const answers = atOnce(pair, ask);
        // Those at one brain wait for the first of them.
        await pair.followed(pair.brains.length);
        pair.go();
        const run = await oneRun(pair, answers, before);
        assert.equal((await ask(pair.brains[1]!)).headers.get("x-run-id"), run);
      }
    });
  }

  test("is one run as a stream", async (t) => {
    const pair = await startPair(t);
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = pair.begin();
      const body = { ...BODIES["/chat/completions"](`count, ${round}`), stream: true };
      const open = pair.brains.flatMap((brain) =>
        Array.from({ length: AT_EACH_BRAIN }, () =>
          fetch(`${brain.url}/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${brain.client.apiKey}`, "content-type": "application/json" },
            body: JSON.stringify(body),
          }),
        ),
      );
      // The head of a stream tells its run.
      const streams = await Promise.all(open);
      assert.equal(new Set(streams.map(({ headers }) => headers.get("x-run-id"))).size, 1);
      pair.go();
      for (const stream of streams) assert.match(await stream.text(), /Done\..*\[DONE\]/su);
      assert.equal(pair.calls(), before + 1);
    }
  });

  test("is one run in a stored conversation, and what is said beside it finds that busy", async (t) => {
    const pair = await startPair(t);
    const [first] = pair.brains;
    const { id } = (await first?.client.conversations.create()) ?? { id: "" };
    const say = (brain: FrontEndServer, content: string): Promise<ReadAnswer> =>
      brain.ask("POST", `/conversations/${id}/messages`, { body: { messages: [{ role: "user", content }] } });
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = pair.begin();
      const words = (index: number): string => `${round} ${index % 3 === 2 ? "something else" : "count the files"}`;
      const said = atOnce(pair, (brain, index) => say(brain, words(index)));
      for (const answer of said) void answer.then(({ status }) => status === 409 && pair.note());
      await pair.followed(said.length);
      pair.go();
      const all = await Promise.all(said);
      const won = all.flatMap(({ status }, index) => (status === 200 ? [words(index)] : []));
      assert.equal(new Set(won).size, 1, won.join(", "));
      assert.equal(won.length, said.filter((_, index) => words(index) === won[0]).length, "who says the same attaches");
      assert.ok(all.every(({ status }) => status === 200 || status === 409));
      assert.equal(new Set(all.flatMap(({ headers }) => headers.get("x-run-id") ?? [])).size, 1);
      assert.equal(pair.calls(), before + 1);
    }
  });
});
