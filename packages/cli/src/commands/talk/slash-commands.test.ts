import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { TestContext } from "node:test";
import { Fault } from "@vidro/core";
import type { BrainApi } from "../../brain-api/brain-api.ts";
import { columnsOf } from "../../view/columns.ts";
import { commandsLike, isTalkCommand, talkCommand } from "./slash-commands.ts";
import type { TalkState } from "./slash-commands.ts";
import { talkWords } from "./talk-words.ts";

/** A brain with two tools and an agent, and what it was asked to fork. */
function brainOf(forks: object[] = []): BrainApi {
  return {
    tools: async () => ["shell", "read_file"],
    decider: async () => "offline decides.",
    agents: {
      list: async () => [{ name: "bunny", description: "careful\u001b[2J" }],
      find: async (name: string) => {
        if (name !== "bunny") throw new Fault("NOT_FOUND", `There is no agent "${name}".`);
        return { name };
      },
    },
    runs: {
      list: async () => [],
      find: async (id: string) => ({ id }),
      async *entries() {
        yield {
          seq: 1,
          at: 0,
          event: { type: "model.replied", model: "m", text: "", usage: { inputTokens: 10, outputTokens: 5 } },
        };
      },
      fork: async (run: string, how: object) => {
        forks.push({ run, ...how });
        return { id: "run_fork", thread: "thread_fork" };
      },
    },
  } as unknown as BrainApi;
}

const newState = (about: Partial<TalkState> = {}): TalkState => ({
  model: {},
  agent: undefined,
  tools: undefined,
  thread: "thread_1",
  runs: ["run_a", "run_b"],
  ...about,
});

/** Carries out a line; what it gave, what it said, and the state behind it. */
async function typed(
  t: TestContext,
  line: string,
  about: { state?: TalkState; brain?: BrainApi; columns?: number } = {},
) {
  const { state = newState(), brain = brainOf() } = about;
  const said: string[] = [];
  const write = process.stdout.write.bind(process.stdout);
  const writes = [
    t.mock.method(process.stderr, "write", (text: string) => said.push(text) > 0),
    // What the test runner itself writes to stdout is bytes.
    t.mock.method(process.stdout, "write", (text: string | Uint8Array) =>
      typeof text === "string" ? said.push(text) > 0 : write(text),
    ),
  ];
  Object.defineProperty(process.stderr, "columns", { value: about.columns ?? 80, configurable: true });
  try {
    const given = await talkCommand(line, { brain, state, words: talkWords("en") });
    return { given, state, said: said.join("") };
  } finally {
    for (const { mock } of writes) mock.restore();
    Reflect.deleteProperty(process.stderr, "columns");
  }
}

let home = "";
const own = process.env["VIDRO_HOME"];
before(() => {
  home = mkdtempSync(join(tmpdir(), "vidro-talk-"));
  process.env["VIDRO_HOME"] = home;
  mkdirSync(join(home, "commands"));
  writeFileSync(join(home, "commands/review.md"), "Review $ARGUMENTS with care.");
  writeFileSync(join(home, "commands/help.md"), "Never shown.");
});
after(() => {
  rmSync(home, { recursive: true, force: true });
  if (own === undefined) delete process.env["VIDRO_HOME"];
  else process.env["VIDRO_HOME"] = own;
});

test("a line is a command by its first word; one that begins with a path is a task", () => {
  for (const line of ["/", "/help", "?", "/new ", "/model a/b", "/fork 3", "/a:b x", "/x\ty"])
    assert.ok(isTalkCommand(line), line);
  for (const line of [
    "/etc/hosts: what is in it?",
    "/var/log",
    "//x",
    "/var/ is full",
    "??",
    "? x",
    "help",
    "!ls",
    " /help",
    "",
  ])
    assert.ok(!isTalkCommand(line), line);
});

describe("/fork", () => {
  const forked = async (t: TestContext, line: string, state = newState()) => {
    const forks: object[] = [];
    const { given, said } = await typed(t, line, { state, brain: brainOf(forks) });
    return { forks, given, said };
  };

  test("goes on from an entry of the last run, with words for the model behind its number", async (t) => {
    for (const [line, how] of [
      ["/fork", {}],
      ["/fork 3", { at: 3 }],
      ["/fork 3 try again", { at: 3, text: "try again" }],
      ["/fork 3\ntwo\nlines", { at: 3, text: "two\nlines" }],
      ["/fork try again", { text: "try again" }],
      ["/fork 3rd time lucky", { text: "3rd time lucky" }],
      ["/fork 2.5 is a number", { text: "2.5 is a number" }],
      ["/fork 12/7", { text: "12/7" }],
    ] as const) {
      const { forks, given } = await forked(t, line);
      assert.deepEqual(forks, [{ run: "run_b", ...how }], line);
      assert.deepEqual(given, { id: "run_fork", isOwn: true });
    }
  });

  test("moves the conversation to the thread of the fork, and is refused where there is no run", async (t) => {
    const state = newState();
    await forked(t, "/fork", state);
    assert.equal(state.thread, "thread_fork");
    const { forks, said } = await forked(t, "/fork 3", newState({ runs: [] }));
    assert.deepEqual([forks, said], [[], "There is no run in this conversation yet.\n"]);
  });
});

describe("/tools", () => {
  test("chooses tools by name, with commas or blanks, and goes back to all", async (t) => {
    for (const [line, tools] of [
      ["/tools shell", ["shell"]],
      ["/tools shell,read_file", ["shell", "read_file"]],
      ["/tools  read_file ,, shell ", ["read_file", "shell"]],
      ["/tools all", undefined],
      ["/tools", undefined],
      ["/tools ,", undefined],
    ] as const)
      assert.deepEqual((await typed(t, line)).state.tools, tools, line);
  });

  test("refuses one that there is not, by name, and changes nothing", async (t) => {
    const { state, said } = await typed(t, "/tools shell,fly", { state: newState({ tools: ["read_file"] }) });
    assert.deepEqual(state.tools, ["read_file"]);
    assert.match(said, /There is no tool fly; there are shell, read_file\./);
  });
});

describe("/model and /agent", () => {
  test("choose, go back, and tell what is chosen", async (t) => {
    const state = newState({ model: { effort: "high" } });
    assert.match((await typed(t, "/model", { state })).said, /offline decides\./);
    await typed(t, "/model vendor/name,offline", { state });
    assert.deepEqual(state.model, { effort: "high", model: "vendor/name,offline" });
    assert.match((await typed(t, "/model", { state })).said, /vendor\/name,offline decides\./);
    await typed(t, "/model default", { state });
    assert.deepEqual(state.model, { effort: "high" });
    await typed(t, "/agent bunny", { state });
    assert.equal(state.agent, "bunny");
    await assert.rejects(typed(t, "/agent nope", { state }), { code: "NOT_FOUND" });
    assert.equal(state.agent, "bunny");
  });

  test("show words of others without what would steer the terminal", async (t) => {
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch((await typed(t, "/agent")).said, /\u001b/);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch((await typed(t, "/model a\u001b[2Jb")).said, /\u001b/);
  });
});

describe("other commands", () => {
  test("begin anew, add up costs, undo and attach", async (t) => {
    const { state } = await typed(t, "/new");
    assert.deepEqual([state.thread, state.runs], [undefined, []]);
    assert.match((await typed(t, "/cost")).said, /^2 runs: 30 tokens/);
    assert.match((await typed(t, "/cost", { state })).said, /^No model was called/);
    assert.deepEqual((await typed(t, "/undo")).given, { task: talkWords("en").undo, tools: ["undo"] });
    assert.deepEqual((await typed(t, "/attach run_x")).given, { id: "run_x", isOwn: false });
    await assert.rejects(typed(t, "/attach x"), { code: "BAD_REQUEST" });
  });

  test("that are in no table and no file are told so, also those that every object has", async (t) => {
    for (const name of ["/nope", "/", "/constructor", "/__proto__", "/toString"])
      assert.ok((await typed(t, `${name} x`)).said.startsWith(`There is no ${name}.`), name);
  });

  test("of files become tasks, and cannot take the name of one that is built in", async (t) => {
    assert.deepEqual((await typed(t, "/review src/a.ts twice")).given, { task: "Review src/a.ts twice with care." });
    const { given, said } = await typed(t, "/help");
    assert.equal(given, undefined);
    assert.match(said, /^ {2}\/review /m);
    assert.doesNotMatch(said, /Never shown/);
    assert.deepEqual(commandsLike("/re"), ["/review"]);
    assert.equal(commandsLike("/help").length, 1);
  });

  for (const columns of [20, 40, 80, 200])
    test(`/help has no row that is wider than ${columns} columns, but for a word that is`, async (t) => {
      const { said } = await typed(t, "/help", { columns });
      for (const row of said.trimEnd().split("\n"))
        assert.ok(
          columnsOf(row) <= columns || / {2,}\S/.test(row.trim()) || !row.trim().includes(" "),
          `${columnsOf(row)}: ${row}`,
        );
      if (columns < 70) assert.match(said, /^ {2}\/cost\n {6}tokens/m);
    });
});
