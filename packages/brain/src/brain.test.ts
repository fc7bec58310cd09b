import assert from "node:assert/strict";
import { readdirSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MODEL_LIMITS, RUN_LIMITS } from "@vidro/core";
import type { Hand, HandEvent } from "@vidro/core";
import { Tokens } from "./auth/tokens.ts";
import { openBrain } from "./brain.ts";
import { readConfig } from "./config.ts";
import { forwardJournal } from "./stores/forward-journal.ts";
import { fakeOpenAi, text } from "../../../tests/support/fake-openai.ts";

test("a workspace that is gone is told by name, and is good again once it is back", async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vidro-brain-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const brain = await openBrain({ home: join(folder, "state"), config: readConfig({ env: {} }), store: "memory" });
  t.after(() => brain.close());
  const workspace = join(folder, "project");
  await assert.rejects(brain.hand(workspace), { code: "NOT_FOUND", message: new RegExp(workspace) });
  await mkdir(workspace);
  assert.equal((await brain.hand(workspace)).workspace, workspace);
});

test("G7 hands of many workspaces are closed when they do nothing, and work on when they are needed again", async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vidro-brain-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const brain = await openBrain({
    home: join(folder, "state"),
    config: readConfig({ env: { PATH: process.env["PATH"] } }),
    store: "memory",
  });
  t.after(() => brain.close());
  const hands: Hand[] = [];
  const open = async (index: number): Promise<Hand> => {
    const workspace = join(folder, `project-${index}`);
    await mkdir(workspace);
    return brain.hand(workspace);
  };
  /** What an approved command of a hand gives. */
  const perform = async (hand: Hand, id: string, command: string): Promise<AsyncIterator<HandEvent>> => {
    const action = { id, callId: id, tool: "shell", input: { command } };
    const judged = await hand.judge(action);
    assert.ok("hash" in judged);
    const order = { action, epoch: 1, run: "run_1", ttlMs: 60_000, approved: judged.hash };
    return hand.perform(order, new AbortController().signal)[Symbol.asyncIterator]();
  };
  const endOf = async (events: AsyncIterator<HandEvent>): Promise<void> => {
    let { value: event } = await events.next();
    while (event?.type === "output") ({ value: event } = await events.next());
    assert.ok(event?.type === "finished" && event.outcome.kind === "process" && event.outcome.exitCode === 0);
    await events.return?.();
  };
  const ledgers = (): number =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).endsWith("ledger.db");
      } catch {
        return false;
      }
    }).length;
  const busy = await open(0);
  const events = await perform(busy, "act_1", "echo begun; while [ ! -e go ]; do sleep 0.02; done");
  assert.equal((await events.next()).value?.type, "output");
  for (let index = 1; index <= RUN_LIMITS.openHands + 8; index += 1) hands.push(await open(index));
  const opened = ledgers();
  await writeFile(join(busy.workspace, "go"), "");
  await endOf(events);
  for (const [index, hand] of hands.entries()) await endOf(await perform(hand, `act_${index + 2}`, "pwd"));
  // SQLite uses a descriptor again for the next one that opens the same file, and each is opened before one is closed.
  for (const count of [opened, ledgers()]) assert.ok(count <= RUN_LIMITS.openHands + 2, `${count} ledgers are open`);
});

test("G7 models that are asked for by many names are kept within a bound, the last ones longest", async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vidro-brain-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const env = { VIDRO_MODEL_URL: "http://127.0.0.1:9/v1" };
  const brain = await openBrain({ home: join(folder, "state"), config: readConfig({ env }), store: "memory" });
  t.after(() => brain.close());
  const [first, second] = [await brain.model("first"), await brain.model("second")];
  for (let index = 0; index < MODEL_LIMITS.kept - 1; index += 1) {
    await brain.model(`other-${index}`);
    assert.equal(await brain.model("second"), second, "what is asked for again and again stays");
  }
  const again = await brain.model("first");
  assert.notEqual(again, first);
  assert.equal(again.name, first.name);
});

test("a run whose token is revoked between the check of the request and the first commit is aborted before it acts", async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vidro-brain-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const server = await fakeOpenAi(text("done"), text("done"));
  t.after(() => server.close());
  let beforeCommit = async (): Promise<void> => undefined;
  const brain = await openBrain({
    home: join(folder, "state"),
    config: readConfig({ env: { VIDRO_MODEL: "test", VIDRO_MODEL_URL: server.url } }),
    observe: (journal) => ({
      ...forwardJournal(journal),
      create: async (...named) => {
        await beforeCommit();
        return journal.create(...named);
      },
    }),
  });
  t.after(() => brain.close());
  const tokens = new Tokens(brain.records);
  const { tokenId } = await tokens.create({ owner: "ana" });
  const start = async (token: string) => {
    const { run } = await brain.runs.start({ task: "say done", workspace: folder, token });
    await Array.fromAsync(brain.runs.follow(run.id));
    return (await brain.runs.find(run.id)).status;
  };
  assert.equal(await start(tokenId), "finished");
  assert.equal(await start("jwt:of-another-issuer"), "finished");
  const asked = server.requests.length;
  beforeCommit = () => tokens.revoke(tokenId);
  assert.equal(await start(tokenId), "aborted");
  assert.equal(server.requests.length, asked, "the model was not asked");
});
