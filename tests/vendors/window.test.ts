import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { calls, fakeOpenAi, status, text } from "../support/fake-openai.ts";
import type { FakeAnswer } from "../support/fake-openai.ts";
import { temporaryFolder } from "../support/local-runs.ts";
import { list } from "./vendor.ts";

/* A model with a small window: long runs stay within it, and a window that is not known is learnt. */

const WINDOW = 32_000;
const CHARS_PER_TOKEN = 3.6;

/** A server with a window of WINDOW tokens and a task of so many steps; it refuses longer prompts as llama.cpp does. */
function smallWindow(steps: number): {
  readonly answer: FakeAnswer;
  readonly seen: { refused: number; most: number; step: number; summaries: number };
} {
  const seen = { refused: 0, most: 0, step: 0, summaries: 0 };
  const answer: FakeAnswer = (response, request) => {
    const tokens = Math.ceil(JSON.stringify(request.body).length / CHARS_PER_TOKEN);
    if (tokens > WINDOW) {
      seen.refused += 1;
      status(400, `request (${tokens} tokens) exceeds the available context size (${WINDOW} tokens)`)(response);
      return;
    }
    seen.most = Math.max(seen.most, tokens);
    if (/about to be shortened/.test(JSON.stringify(list(request.body["messages"]).at(-1)))) {
      seen.summaries += 1;
      text(`Task: read it all. Done: ${seen.step} steps.`)(response);
      return;
    }
    seen.step += 1;
    const input = JSON.stringify({ file_path: `file-${seen.step % 10}.txt`, offset: (seen.step % 300) + 1, limit: 60 });
    if (seen.step > steps) text("All is read.")(response);
    else calls({ id: `c${seen.step}`, name: "read_file", input })(response);
  };
  return { answer, seen };
}

for (const [what, steps, env] of [
  [
    "a run of 300 steps stays within a window of 32,000 tokens that is known",
    300,
    { VIDRO_MODEL_WINDOW: String(WINDOW) },
  ],
  ["a window that is not known is learnt from the server's refusal", 60, {}],
] as const) {
  test(what, async (t) => {
    const folder = temporaryFolder(t);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    const lines = Array.from({ length: 400 }, (_, line) => `line ${line} of a file that is read again and again`);
    for (let file = 0; file < 10; file++) writeFileSync(join(workspace, `file-${file}.txt`), lines.join("\n"));
    const { answer, seen } = smallWindow(steps);
    const server = await fakeOpenAi(answer);
    t.after(() => server.close());
    const { launcher: vidro } = bundledCommands();
    const args = [
      "run",
      "--json",
      "--max-steps",
      "400",
      "--max-actions",
      "400",
      "--max-tokens",
      "90000000",
      "read it all",
    ];
    const child = spawn(vidro, args, {
      cwd: workspace,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        VIDRO_HOME: join(folder, "home"),
        VIDRO_MODEL: "small",
        VIDRO_MODEL_URL: server.url,
        ...env,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    await once(child, "close");
    const last = output.trimEnd().split("\n").at(-1) ?? "";
    assert.match(last, /"event":"run.finished".*All is read\./);
    assert.equal(seen.step, steps + 1);
    assert.ok(output.includes('"event":"context.compacted"'), "the conversation was shortened");
    if ("VIDRO_MODEL_WINDOW" in env) {
      assert.equal(seen.refused, 0, "no prompt was too long");
      assert.ok(seen.summaries >= 1, "the model was asked for a summary");
      assert.match(output, /"summarisedBy":"small"/);
    } else assert.ok(seen.refused >= 1 && seen.refused <= 3, `refused ${seen.refused} times`);
    assert.ok(seen.most <= WINDOW);
  });
}
