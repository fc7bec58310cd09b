import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DIGEST_TITLE } from "@vidro/core/run";
import type { ModelRequest, Turn } from "@vidro/core";
import { converse, toolsNamed } from "./conversation.fixture.ts";
import type { Told } from "./conversation.fixture.ts";
import { nextMove } from "./walk.ts";

const TOOLS = toolsNamed("command", "shell", "os_info", "processes");
const OS_INFO = [
  "hostname: web-1",
  "system: Debian GNU/Linux 12 (bookworm)",
  "kernel: Linux 6.1.0",
  "architecture: x86_64",
  "user: ada",
  "processors: 4",
  "load: 0.50 0.25 0.10",
  "memory_total_mib: 2048",
  "memory_available_mib: 512",
  "disk_total_mib: 10240",
  "disk_available_mib: 2560",
  "uptime_seconds: 93600",
  "workspace: /srv/work",
].join("\n");

/** A host without any of the usual programs. */
const bareHand = (tool: string): Promise<Told> =>
  Promise.resolve(
    tool === "os_info" ? { text: OS_INFO, failed: false } : { text: "TOOL_FAILED: it was not found.", failed: true },
  );

const request = (turns: readonly Turn[]): ModelRequest => ({ system: "", turns, tools: TOOLS });
const user = (text: string): Turn => ({ role: "user", text });
const told = (callId: string, text: string, failed = false): Turn => ({
  role: "tool",
  callId,
  tool: "command",
  text,
  failed,
});

describe("the next move", () => {
  it("does not say that a log has no errors when that log could not be read", async () => {
    const hand =
      (files: Told) =>
      async (tool: string, { command }: { readonly command?: unknown }): Promise<Told> =>
        tool === "command" && command === "journalctl" ? { text: "", failed: false } : files;
    const ask = async (files: Told) =>
      (await converse("any errors in the system log?", hand(files), { tools: TOOLS })).answer;
    const refused = await ask({ text: "APPROVAL_UNASKED: No person could be asked.", failed: true });
    assert.doesNotMatch(refused, /^No line with an error/);
    assert.match(refused, /grep/);
    const missing = await ask({ text: "grep: /var/log/syslog: No such file or directory", failed: true });
    assert.match(missing, /^No line with an error/);
  });

  it("falls back to the facts of the hand when a program is missing", async () => {
    const ask = async (task: string) => (await converse(task, bareHand, { tools: TOOLS })).answer;
    assert.equal(
      await ask("how much disk is free?"),
      "2.5 GiB of 10 GiB are free on /srv/work (25 %); 7.5 GiB are used.",
    );
    assert.equal(
      await ask("quanta memória está livre?"),
      "512 MiB de 2 GiB de memória estão disponíveis (75 % em uso).",
    );
    assert.equal(await ask("how long is this machine up?"), "The machine has been up for 1 day and 2 hours.");
    assert.equal(await ask("how many cpus?"), "4 processors.");
    assert.equal(
      await ask("¿qué sistema operativo es?"),
      "web-1 usa Debian GNU/Linux 12 (bookworm), kernel Linux 6.1.0, en x86_64.",
    );
    assert.equal(await ask("who am i?"), "The hand works as ada.");
  });

  it("says honestly what was not done when there is no other way", async () => {
    const { answer } = await converse("who is listening on port 22?", bareHand, { tools: TOOLS });
    assert.equal(answer, "Not done: `ss -tlnp`. ss is not installed here.");
  });

  it("tries nothing else after a person said no", async () => {
    const no = { text: "APPROVAL_DENIED: A person said no.", failed: true };
    const { answer, calls } = await converse("how much memory is free?", () => Promise.resolve(no), { tools: TOOLS });
    assert.equal(calls.length, 1);
    assert.match(answer, /^Not done: `free -b`/);
  });

  it("quotes what it cannot read instead of inventing", async () => {
    const odd = { text: "Speicher: reichlich", failed: false };
    const { answer } = await converse("how much memory is free?", () => Promise.resolve(odd), {
      tools: toolsNamed("command"),
    });
    assert.equal(
      answer,
      "`free -b` gave something that I cannot read, so here it is as it came:\n    │ Speicher: reichlich",
    );
  });

  it("depends on the conversation alone", () => {
    const turns = [user("how much disk and memory is free?"), told("offline-1-1", "x", true)];
    assert.deepEqual(nextMove(request(turns)), nextMove(request(structuredClone(turns))));
  });

  it("gives each call of a conversation an id of its own", async () => {
    const first = await converse("how much disk is free?", bareHand, { tools: TOOLS });
    const second = await converse("and memory?", bareHand, { tools: TOOLS, history: first.turns });
    const ids = second.turns.flatMap((turn) => (turn.role === "tool" ? [turn.callId] : []));
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, 4);
  });

  it("keeps its place when early turns were compacted away", () => {
    const task = `run "echo a" and "echo b"\n\n${DIGEST_TITLE}\n- run "rm x"`;
    const move = nextMove(request([user(task), told("offline-3-2", "b\n")]));
    assert.ok("answer" in move);
    assert.equal(
      move.answer,
      "`echo a` was done, but its output is no longer in my view.\n\n`echo b` ended with exit code 0.\n    │ b",
    );
  });

  it("takes no other model's results for its own", () => {
    const move = nextMove(request([user("how much disk is free?"), told("call_77", "Filesystem …")]));
    assert.ok("call" in move && move.id === "offline-2-1");
  });

  it("asks each hand of several and answers by host", async () => {
    const parameters = { type: "object", properties: { hand: { enum: ["web-1", "web-2"] } } };
    const tools = toolsNamed("command").map((tool) => ({ ...tool, parameters }));
    const sizes = new Map([
      ["web-1", 500_000],
      ["web-2", 250_000],
    ]);
    const hands = (_tool: string, input: { readonly [name: string]: unknown }): Promise<Told> => {
      const free = sizes.get(String(input["hand"])) ?? assert.fail();
      const row = `/dev/sda1 1048576 ${1_048_576 - free} ${free} 50% /`;
      return Promise.resolve({
        text: `Filesystem 1024-blocks Used Available Capacity Mounted on\n${row}`,
        failed: false,
      });
    };
    const { answer, calls } = await converse("how much disk is free?", hands, { tools });
    assert.deepEqual(
      calls.map(({ input }) => input["hand"]),
      ["web-1", "web-2"],
    );
    assert.equal(
      answer,
      "web-1: 488.3 MiB of 1 GiB are free on / (48 %); 535.7 MiB are used.\n" +
        "web-2: 244.1 MiB of 1 GiB are free on / (24 %); 779.9 MiB are used.",
    );
  });

  it("leaves no line of an answer that is a JSON object", () => {
    const order = '{"type":"shell","command":"true"}';
    const move = nextMove(request([user('run "x"'), told("offline-1-1", order, true)]));
    assert.ok("answer" in move && move.answer.includes("shell"));
    const memory = nextMove({
      ...request([user("where am i?"), told("offline-1-1", order)]),
      tools: toolsNamed("working_directory"),
    });
    assert.ok("answer" in memory && !memory.answer.split("\n").some((line) => line.trim().startsWith("{")));
  });
});
