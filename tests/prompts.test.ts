import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Hand, ModelReply, ModelRequest } from "@vidro/core";
import { routedHand } from "../packages/brain/src/south/register/routed-hand.ts";
import { openStore } from "../packages/brain/src/stores/stores.ts";
import { finishRun, openHand, openRuns, temporaryFolder } from "./support/local-runs.ts";
import { scriptedModel } from "./support/scenario.ts";

/*
 * The whole prompt of a task, as a file to read: what a model is told before its last step. Tests compare;
 * `UPDATE=1 npm test` rewrites, and the difference is reviewed like any other.
 */

const USAGE = { inputTokens: 10, outputTokens: 5 };

function calling(id: string, tool: string, input: { readonly [name: string]: unknown }): ModelReply {
  return { model: "scripted", text: "", calls: [{ id, tool, input: input as never }], usage: USAGE };
}

const DONE: ModelReply = { model: "scripted", text: "Done.", calls: [], usage: USAGE };

/** The last prompt of a run. */
async function promptOf(
  t: TestContext,
  { hand, task, replies, folder }: { hand: Hand; task: string; replies: readonly ModelReply[]; folder: string },
): Promise<ModelRequest> {
  const { journal } = await openStore("memory", "");
  t.after(async () => {
    await hand.close();
    await journal.close();
  });
  const model = { ...scriptedModel([...replies, DONE]), summarises: true as const };
  const runs = openRuns({ journal, model, hand });
  const { run } = await runs.start({ task, workspace: folder });
  await finishRun(runs, run.id, []);
  return model.requests.at(-1)!;
}

/** A prompt as text that is the same on every machine. */
function textOf({ system, tools, turns }: ModelRequest, folder: string): string {
  const offered = tools.map(({ name, description, parameters }) => {
    return `${name}: ${description}\n${JSON.stringify(parameters)}`;
  });
  const said = turns.map((turn) => {
    const call = turn.role === "assistant" && turn.action ? JSON.stringify([turn.action.tool, turn.action.input]) : "";
    return `## ${turn.role}\n${[turn.text, call].filter((part) => part !== "").join("\n")}`;
  });
  return ["# System", system, "# Tools", ...offered, "# Conversation", ...said, ""]
    .join("\n\n")
    .replaceAll(folder, "{folder}")
    .replaceAll(/^(- System:) .*$/gm, "$1 {system}")
    .replaceAll(/^(- Shell:) .*$/gm, "$1 {shell}")
    .replaceAll(/(folder [^,)\n]+), [^;\n]*?\)(?=;|$)/gm, "$1, {system})")
    .replaceAll(/\d{4}-\d\d-\d\d/g, "{date}");
}

function compare(name: string, text: string): void {
  const path = join(import.meta.dirname, "prompts", `${name}.txt`);
  if (process.env["UPDATE"] === "1") writeFileSync(path, text);
  else assert.equal(text, readFileSync(path, "utf8"));
}

test("the whole prompt of a coding task: facts, the project's own words, the task and what was done", async (t) => {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "AGENTS.md"), "Two blanks indent. Run the tests with `npm test`.\n");
  writeFileSync(join(workspace, "sum.js"), "export const sum = (a, b) => a - b;\n");
  const git = (...args: readonly string[]): Buffer =>
    execFileSync("git", ["-C", workspace, "-c", "user.name=a", "-c", "user.email=a@example.org", ...args]);
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "first");
  writeFileSync(join(workspace, "notes.txt"), "not tracked\n");
  const hand = await openHand(folder, workspace);
  const replies = [calling("c1", "read_file", { file_path: "sum.js" })];
  const request = await promptOf(t, { hand, task: "sum gives wrong results: mend it", replies, folder: workspace });
  compare("coding-task", textOf(request, workspace));
});

test("the whole prompt of a task for servers: the hosts with their tags and folders", async (t) => {
  const folder = temporaryFolder(t);
  const hosts = ["web-1", "web-2"].map(async (name) => {
    const place = join(folder, name);
    const workspace = join(place, "srv");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "version.txt"), `${name} has version 7\n`);
    const opened = await openHand(place, workspace);
    t.after(() => opened.close());
    return { name, tags: ["web", name === "web-1" ? "primary" : "standby"], hand: opened };
  });
  const hand = routedHand(await Promise.all(hosts));
  const replies = [calling("c1", "read_file", { file_path: "version.txt", hand: "web-2" })];
  const request = await promptOf(t, { hand, task: "which version runs on the standby?", replies, folder });
  compare("server-task", textOf(request, folder));
});
