import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { outcomeText } from "@vidro/core";
import type { Hand, JsonObject } from "@vidro/core";
import { localHand, openPolicy } from "@vidro/hands";
import { converse } from "./conversation.fixture.ts";
import type { Told } from "./conversation.fixture.ts";

let folder = "";
let hand: Hand;
let actions = 0;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "vidro-offline-hand-"));
  const [workspace, state] = [join(folder, "work"), join(folder, "state")];
  mkdirSync(join(workspace, "src"), { recursive: true });
  mkdirSync(state);
  writeFileSync(join(workspace, "README.md"), "# Glass\n\nneedle\n");
  writeFileSync(join(workspace, "src", "notes"), "later\n");
  execFileSync("git", ["init", "--quiet", "--initial-branch=trunk"], { cwd: workspace });
  hand = await localHand({
    id: "here",
    workspace,
    state,
    policy: openPolicy({ file: join(state, "none.json"), workspace, state }),
  });
});

after(async () => {
  await hand.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Performs an action on the real hand, but only what its policy allows without a person. */
async function perform(tool: string, input: JsonObject): Promise<Told> {
  const judgement = await hand.judge({ id: "judged", tool, input, callId: "judged" });
  if ("verdict" in judgement) {
    assert.equal(judgement.verdict.decision, "allow", `${tool} ${JSON.stringify(input)}: ${judgement.verdict.reason}`);
  }
  return await outcomeOf(tool, input);
}

async function outcomeOf(tool: string, input: JsonObject): Promise<Told> {
  actions += 1;
  const action = { id: `action-${actions}`, tool, input, callId: `call-${actions}` };
  const order = { action, epoch: 1, run: "run", ttlMs: 60_000 };
  for await (const event of hand.perform(order, new AbortController().signal)) {
    if (event.type === "finished") return { text: outcomeText(event.outcome), failed: false };
    if (event.type !== "output") return { text: `${event.fault.code}: ${event.fault.message}`, failed: true };
  }
  return assert.fail("the hand never ended");
}

describe("on a real hand with the shipped policy, without a question, the answer is", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["how much disk is free?", /are free on \//],
    ["how much memory is available?", /of memory are available/],
    ["how many cpus are there?", /^\d+ processors?/],
    ["which processes use most cpu?", /^The processes that use most CPU, of \d+ in all:\n- \d/],
    ["is node running?", /^\d+ process(es)? match(es)? “node”:\n- \d/],
    ["há quanto tempo a máquina está ligada?", /^A máquina está ligada há \d+ /],
    ["what is the load average?", /^Load: \d.* over 1 minute/],
    ["which operating system is this?", / runs .*kernel Linux /],
    ["¿cuál es mi dirección IP?", /^Direcciones de red:\n- /],
    ["which ports are open?", /TCP port/],
    ["what are the largest files here?", /largest files in \.\/:\n- \d/],
    ["find files named *.md", /^1 path found \(\*\.md\):\n- README\.md$/],
    ['procure por "needle"', /^1 linha contém “needle”:\n- README\.md:3:needle$/],
    ["read README.md", /^README\.md \(3 lines read\):\n {4}│ # Glass/],
    ["leia o README", /^README\.md \(3 linhas lidas\):/],
    ["view src/notes", /^src\/notes \(1 line read\):\n {4}│ later$/],
    ["list src/", /^src\/ has 1 entry:\n.*notes$/],
    ["read missing", /^I did not understand/],
    ["lista los archivos", /^\.\/ tiene 3 entradas:\n.*README\.md/s],
    ["is the repository clean?", /^On branch trunk\. 2 paths have changed:\n {4}│ \?\? README\.md\n {4}│ \?\? src\/$/],
    ["o que mudou no git?", /^No branch trunk\. 2 caminhos mudaram:/],
    ["show the last commits", /^The repository has no commits yet\.$/],
    ["what time is it?", /^It is \w+, \d{4}-\d{2}-\d{2}, \d{2}:\d{2}:\d{2} \(\S+\) on this machine\.$/],
    ["who am I?", /^The hand works as \S+ \(uid \d+/],
    ["who is logged in?", /^(No user is logged in|Logged in: )/],
    ["em que pasta estou?", /^A pasta de trabalho é \/.*\/work\.$/],
    ["read missing.txt", /^Not done: `read_file missing\.txt`\. It is not there\.$/],
  ];
  for (const [task, answer] of cases) {
    it(`right for: ${task}`, async () => {
      const conversation = await converse(task, perform, {
        tools: hand.tools,
      });
      assert.match(conversation.answer, answer);
    });
  }
});
