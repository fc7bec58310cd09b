import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import type { Ended } from "../../packages/cli/src/stage.fixture.ts";
import type { JsonObject } from "@vidro/core";
import {
  calls,
  cutAfter,
  empty,
  fakeOpenAi,
  hang,
  hangAfter,
  huge,
  malformed,
  status,
  text,
} from "../support/fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "../support/fake-openai.ts";

/*
 * F25: the model's server misbehaves in each way it can, over a real socket, and the command ends by name: a line for
 * programs, a sentence for people, an exit code.
 */

interface Tried extends Ended {
  readonly fake: FakeOpenAi;
  readonly events: readonly { readonly event: string; readonly body: { readonly [field: string]: unknown } }[];
  readonly workspace: string;
}

async function tried(t: { after(done: () => Promise<void>): void }, ...replies: FakeReply[]): Promise<Tried> {
  const fake = await fakeOpenAi(...replies);
  // Only a model that hangs is to be given up soon: any other must be let finish, however slow this machine is.
  const hangs = replies.every((reply) => HANGING.has(reply));
  const timeout = hangs ? "400" : "60000";
  const stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url, VIDRO_MODEL_TIMEOUT_MS: timeout });
  t.after(async () => {
    await fake.close();
    await stage[Symbol.asyncDispose]();
  });
  const ended = await stage.run("run", "--json", "--yes", "do it");
  const events = ended.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Tried["events"][number]);
  return { ...ended, fake, events, workspace: stage.workspace };
}

const last = ({ events }: Tried): { event: string; code: unknown } => {
  const end = events.at(-1)!;
  const fault = end.body["fault"] as { code?: unknown } | undefined;
  return { event: end.event, code: fault?.code };
};
const healings = ({ events }: Tried): unknown[] =>
  events.flatMap(({ event, body }) => (event === "heal.tried" ? [body["healing"]] : []));

const HANGS_IN_THE_MIDDLE = hangAfter("half an ans");
const HANGING: ReadonlySet<FakeReply> = new Set([hang, HANGS_IN_THE_MIDDLE]);

const FATAL: readonly (readonly [what: string, reply: FakeReply, code: string, exit: number])[] = [
  ["hangs before its headers", hang, "MODEL_TIMEOUT", 8],
  ["hangs in the middle", HANGS_IN_THE_MIDDLE, "MODEL_TIMEOUT", 8],
  ["is cut in the middle", cutAfter("half an ans"), "MODEL_CUT", 7],
  ["answers 500", status(500, "oh no"), "MODEL_UNAVAILABLE", 7],
  ["answers 401", status(401, "who are you"), "MODEL_KEY_REFUSED", 4],
  ["answers rubbish", malformed, "MODEL_RUBBISH", 1],
  ["answers nothing", empty, "MODEL_RUBBISH", 1],
];

suite("F25 for good", { concurrency: 3 }, () => {
  for (const [what, reply, code, exit] of FATAL) {
    test(`F25 a model that ${what} for good ends in ${code} and exit code ${exit}`, async (t) => {
      const ended = await tried(t, reply);
      assert.deepEqual(last(ended), { event: "run.failed", code });
      assert.equal(ended.code, exit);
      assert.match(ended.stderr, /next: /);
      assert.doesNotMatch(ended.stderr, /\n\s+at /);
    });
  }
});

test("F25 a model that fails once is tried again, and no tool is run twice for it", async (t) => {
  const effect = calls({ id: "c1", name: "shell", input: '{"command":"echo x >> effects.txt"}' });
  const ended = await tried(t, effect, cutAfter("so"), status(500, "oh"), text("done"));
  assert.deepEqual(last(ended), { event: "run.finished", code: undefined });
  assert.deepEqual(healings(ended), ["retry_with_backoff", "retry_with_backoff"]);
  assert.equal(readFileSync(join(ended.workspace, "effects.txt"), "utf8"), "x\n");
});

test("F25 a server that says when to come back is obeyed", async (t) => {
  const ended = await tried(t, status(429, "slow down", { "retry-after": "1" }), text("done"));
  assert.deepEqual(last(ended), { event: "run.finished", code: undefined });
  assert.deepEqual(healings(ended), ["handle_rate_limit"]);
});

test("F25 000-38 of two tool calls in one answer one is run, and the model is told of the other", async (t) => {
  const both = calls(
    { id: "c1", name: "shell", input: '{"command":"echo a >> effects.txt"}' },
    { id: "c2", name: "shell", input: '{"command":"echo b >> effects.txt"}' },
  );
  const ended = await tried(t, both, text("done"));
  assert.equal(readFileSync(join(ended.workspace, "effects.txt"), "utf8"), "a\n");
  const messages = ended.fake.requests[1]?.body["messages"] as readonly JsonObject[];
  const result = messages.find((message) => message["tool_call_id"] === "c2");
  assert.match(JSON.stringify(result?.["content"]), /^"Not run: /);
});

test("F25 arguments that break the schema are told to the model, which goes on", async (t) => {
  const ended = await tried(
    t,
    calls({ id: "c1", name: "read_file", input: '{"path":1}' }),
    calls({ id: "c2", name: "read_file", input: "{oops" }),
    text("I give up."),
  );
  assert.deepEqual(last(ended), { event: "run.finished", code: undefined });
  const told = ended.events.flatMap(({ event, body }) => (event === "action.failed" ? [body["fault"]] : []));
  assert.deepEqual(
    told.map((fault) => (fault as { code: string }).code),
    ["BAD_ARGUMENTS", "BAD_ARGUMENTS"],
  );
});

test("F25 an answer of 10 MB is cut off by name and costs no effect", async (t) => {
  const ended = await tried(t, huge(10 * 1024 * 1024));
  assert.deepEqual(last(ended), { event: "run.failed", code: "MODEL_RUBBISH" });
  assert.ok(!existsSync(join(ended.workspace, "effects.txt")));
});
