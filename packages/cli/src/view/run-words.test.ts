import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { BOOTSTRAP, DIRECT } from "@vidro/core/run";
import type { Entry } from "@vidro/core";
import { doingOf, shownModel, shownTask } from "./run-words.ts";
import { ndjsonScreen } from "./screen.ts";
import { printedScreen, sayBrain, unusedModelWords } from "./show-run.ts";

/** What is written to both streams while `work` runs. */
async function written(t: TestContext, work: () => void | Promise<void>): Promise<{ out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const write = process.stdout.write.bind(process.stdout);
  const writes = [
    // What the test runner itself writes to stdout is bytes.
    t.mock.method(process.stdout, "write", (text: string | Uint8Array) =>
      typeof text === "string" ? out.push(text) > 0 : write(text),
    ),
    t.mock.method(process.stderr, "write", (text: string) => err.push(text) > 0),
  ];
  await work();
  for (const { mock } of writes) mock.restore();
  return { out: out.join(""), err: err.join("") };
}

test("the task of a run that carries out one command is its command line; another one, and rubbish, is as it is", () => {
  for (const [task, model, shown] of [
    ['["ls","-la","two words"]', DIRECT, "ls -la 'two words'"],
    ['["echo",5,null]', DIRECT, "echo 5 null"],
    ["[]", DIRECT, ""],
    ['["ls"]', "vendor/model", '["ls"]'],
    ['{"tool":"x"}', DIRECT, '{"tool":"x"}'],
    ["[", DIRECT, "["],
    ["", DIRECT, ""],
    ['"text"', DIRECT, '"text"'],
  ] as const)
    assert.equal(shownTask(task, model), shown, task);
  assert.equal(shownModel(`${BOOTSTRAP}vendor/model`), "vendor/model");
  assert.equal(shownModel("vendor/model"), "vendor/model");
});

test("what the model does is a word: thinking, thinking again, summing up", () => {
  const called = { type: "model.called", step: 1 } as const;
  assert.equal(doingOf({ ...called, attempt: 1 }), "thinking");
  assert.equal(doingOf({ ...called, attempt: 3 }), "thinking, try 3");
  assert.equal(doingOf({ ...called, attempt: 3, summary: true }), "summing up");
});

describe("which brain works", () => {
  const brain = {
    place: "the daemon at http://x\u001b[2J\nvidro: fake",
    unusedModel: "m\u001b]0;x\u0007\n".repeat(50),
  };

  test("is said on stderr, and to neither programs nor those who want only the answer", async (t) => {
    const { out, err } = await written(t, () => sayBrain(brain, {}));
    assert.equal(out, "");
    const lines = err.trimEnd().split("\n");
    assert.equal(lines[0], "brain: the daemon at http://x vidro: fake");
    assert.match(lines[1] ?? "", /^VIDRO_MODEL is m m m .*… here, and the daemon was started without it/);
    for (const flags of [{ json: true }, { quiet: true }])
      assert.deepEqual(await written(t, () => sayBrain(brain, flags)), { out: "", err: "" });
  });

  test("is said without the model of this shell where the command names one, or the daemon has it", async (t) => {
    assert.equal((await written(t, () => sayBrain(brain, { model: "x" }))).err.trimEnd().split("\n").length, 1);
    assert.deepEqual(unusedModelWords({}), []);
  });
});

describe("a run for programs", () => {
  const entry = (seq: number, event: object): Entry => ({ seq, at: 1, event: event as Entry["event"] });

  test("is one line of JSON on stdout for each entry, whatever it holds, and notes go to stderr", async (t) => {
    const { out, err } = await written(t, () => {
      const screen = ndjsonScreen("run_1", { verbose: false });
      screen.entry(entry(1, { type: "note.observed", note: "a\nb\u2028c\u001b[2J" }));
      screen.entry(entry(2, { type: "run.dreamt", of: "sheep", type2: 5 }));
      screen.live({ type: "model.delta", text: "x", from: 0 });
      screen.notice("web-1 is down");
      screen.close();
    });
    const lines = out.trimEnd().split("\n");
    assert.equal(lines.length, 2);
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { seq: number }).seq),
      [1, 2],
    );
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch(lines.join(""), /[\u0000-\u001f\u2028]/);
    assert.equal(err, "web-1 is down\n");
  });

  test("has what is live with --verbose, without a number of its own", async (t) => {
    const { out } = await written(t, () =>
      ndjsonScreen("run_1", { verbose: true }).live({ type: "model.delta", text: "x", from: 0 }),
    );
    assert.ok(!("seq" in (JSON.parse(out) as object)));
  });

  test("that is only printed goes to stdout whole, as JSON or for people", async (t) => {
    const note = entry(1, { type: "note.observed", note: "half full" });
    for (const json of [true, false]) {
      const { out, err } = await written(t, async () => {
        const screen = await printedScreen("run_1", { json });
        screen.entry(note);
        screen.close();
      });
      assert.match(out, /half full/);
      assert.equal(err, "");
      assert.equal(out.startsWith("{"), json);
    }
  });
});
