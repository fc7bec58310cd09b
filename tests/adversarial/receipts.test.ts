import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { outcomeOf } from "@vidro/core/run";
import type { Action, ActionEnd, Hand, JsonObject } from "@vidro/core";
import { checkReceipt, keysByHand } from "../../packages/brain/src/south/receipt-check.ts";
import type { ReceiptVerdict } from "../../packages/brain/src/south/receipt-check.ts";
import { lines, Stage, wholeBody } from "../../packages/cli/src/stage.fixture.ts";
import { enrol } from "../../packages/hands/src/enrol/join.ts";
import { openReceiptSigner } from "../../packages/hands/src/enrol/receipt-signer.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { REMOTE_HANDS } from "../support/remote-hands.ts";
import { Peer } from "../support/peer-process.ts";
import { SHORT_REDIALS_FLAGS } from "../support/preload-flags.ts";
import { ForeignAgent, helloOf } from "../support/southbound-harness.ts";
import { scratch } from "../support/tcp-hand.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

/* A hand with a key signs what came of an action; who has the public key can tell whether a journal says the same. */

const NODE = [process.execPath, "--conditions=vidro-source", "--disable-warning=ExperimentalWarning"];
const { hand: HAND } = bundledCommands();
const NO_LOCAL = ["--port", "0", "--southbound-port", "0", "--no-local-hand"];

async function ended(
  hand: Hand,
  action: Action,
  approve: boolean,
): Promise<{ readonly plan: string; readonly end: ActionEnd }> {
  const judged = await hand.judge(action);
  assert.ok("hash" in judged, JSON.stringify(judged));
  const { hash: plan, ledger = "" } = judged;
  const order = { action, run: "run_1", epoch: 1, ttlMs: 60_000, ledger, ...(approve ? { approved: plan } : {}) };
  const events = await Array.fromAsync(hand.perform(order, new AbortController().signal));
  return { plan, end: events.at(-1) as ActionEnd };
}

function verdictOf(end: ActionEnd, action: Action, { plan, hand }: { plan: string; hand: string }): ReceiptVerdict {
  const event = outcomeOf(end, { action, tools: [], hasEarlierOrder: false });
  const key = end.receipt?.key ?? "";
  const keys = keysByHand([{ hand, key, since: 0 }]);
  return checkReceipt({ run: "run_1", seq: 1, at: 1, hands: [hand], plan, event }, keys);
}

const PATCH = "--- a/text\n+++ b/text\n@@ -1 +1 @@\n-one\n+two\n";

for (const wire of ["agent-ws", "agent-http"] as const) {
  test(`over ${wire} every kind of outcome comes with a receipt that fits it, and again with the same one`, async (t) => {
    const { hand, workspace } = await REMOTE_HANDS[wire](t, { folder: scratch(t) });
    writeFileSync(join(workspace, "text"), "one\n");
    const actions: readonly (readonly [string, JsonObject, string])[] = [
      ["command", { command: "uname", args: ["-s"] }, "finished"],
      ["command", { command: "ls", args: ["nothing-here"] }, "finished"],
      ["read_file", { file_path: "text" }, "finished"],
      ["read_file", { file_path: "nothing-here" }, "failed"],
      ["os_info", {}, "finished"],
      ["file_diff", { path: "text", want: "one\n" }, "finished"],
      ["file_diff", { path: "text", want: "two\n" }, "finished"],
      ["file_apply", { path: "text", patch: PATCH }, "finished"],
      ["file_apply", { path: "text", patch: PATCH }, "finished"],
    ];
    for (const [at, [tool, input, type]] of actions.entries()) {
      const action = { id: `act_${at}`, tool, input, callId: "c" };
      const { plan, end } = await ended(hand, action, true);
      assert.deepEqual([end.type, end.receipt?.plan], [type, plan], `${tool} ${JSON.stringify(end)}`);
      assert.equal(verdictOf(end, action, { plan, hand: hand.id }), "sound", `${tool} ${JSON.stringify(end)}`);
      const again = await ended(hand, action, true);
      assert.deepEqual(again.end, end);
    }
  });
}

for (const wire of ["executor-ws", "agent-tcp"] as const) {
  test(`a hand without a key of its own, such as one over ${wire} in a person's home, gives no receipt`, async (t) => {
    const { hand } = await REMOTE_HANDS[wire](t, { folder: scratch(t) });
    const { end } = await ended(
      hand,
      { id: "act_1", tool: "command", input: { command: "uname" }, callId: "c" },
      false,
    );
    assert.deepEqual([end.type, end.receipt], ["finished", undefined]);
  });
}

async function invitation(
  daemon: DaemonProcess,
  name: string,
): Promise<{ readonly url: string; readonly token: string }> {
  const invited = await daemon.ask("/v1/hands/invitations", {
    method: "POST",
    body: JSON.stringify({ name, installed: true }),
  });
  return (await invited.json()) as { url: string; token: string };
}

interface Joined {
  readonly brain: Stage;
  /** The line of the hand's own public key, as its host prints it. */
  readonly keyLine: string;
}

/** A daemon, and the program of a hand on a host that has joined it. */
async function joined(t: TestContext): Promise<Joined> {
  const brain = await Stage.set();
  const daemon = await DaemonProcess.up(brain, { flags: NO_LOCAL });
  const folder = scratch(t);
  mkdirSync(join(folder, "workspace"));
  writeFileSync(join(folder, "workspace", "notes"), "password=hunter2hunter2\n");
  const { url, token } = await invitation(daemon, "far");
  const state = ["--state", join(folder, "state")];
  const where = ["--token", token, "--workspace", join(folder, "workspace"), ...state, "--json"];
  const env = { PATH: process.env["PATH"], HOME: folder };
  const peer = await Peer.start({
    argv: [...NODE, ...SHORT_REDIALS_FLAGS, HAND, "join", url, ...where],
    cwd: folder,
    env,
  });
  t.after(async () => {
    await peer.end("SIGKILL");
    await daemon[Symbol.asyncDispose]();
    await brain[Symbol.asyncDispose]();
  });
  const [node = "", ...conditions] = NODE;
  return { brain, keyLine: execFileSync(node, [...conditions, HAND, "key", ...state], { encoding: "utf8", env }) };
}

/** Writes the entries of all runs anew, so that each hash chain is whole again. */
function rewrite(home: string, from: string, to: string): void {
  using database = new DatabaseSync(join(home, "journal.db"));
  for (const { number, id } of database.prepare("SELECT number, id FROM run").all()) {
    let previous = "";
    for (const row of database.prepare("SELECT seq, at, body FROM entry WHERE run = ? ORDER BY seq").all(number!)) {
      const body = wholeBody(database, row["body"]).replaceAll(from, to);
      const [seq, at] = [Number(row["seq"]), Number(row["at"])];
      previous = hash("sha256", `${previous}\n${String(id)}\n${seq}\n${at}\n${body}`, "hex");
      const change = database.prepare("UPDATE entry SET body = ?, hash = unhex(?) WHERE run = ? AND seq = ?");
      change.run(body, previous, number!, seq);
    }
  }
}

test("an outcome that was written anew differs from what the hand signed: in the home, and elsewhere with the keys alone", async (t) => {
  const { brain, keyLine } = await joined(t);
  assert.equal((await brain.run("hands", "exec", "far", "--", "uname", "-s")).stdout, "Linux\n");
  const secret = await brain.run("hands", "exec", "far", "--", "cat", "notes");
  assert.equal(secret.code, 0, secret.stderr);
  const whole = await brain.run("audit", "verify");
  assert.equal(whole.code, 0, whole.stdout);
  assert.match(
    whole.stdout,
    /^2 receipts of hands fit, 1 of them without the words that secrets were removed from\.$/m,
  );
  assert.match(whole.stdout, /^Not shown by receipts: what a hand that lies has done/m);

  await using auditor = await Stage.set();
  const [keys, exported] = [join(auditor.workspace, "keys"), join(auditor.workspace, "outcomes")];
  const { stdout: outcomes } = await brain.run("audit", "export");
  writeFileSync(keys, keyLine);
  writeFileSync(exported, outcomes);
  const check = () => auditor.run("audit", "receipts", exported, "--keys", keys);
  const elsewhere = await check();
  assert.equal(elsewhere.code, 0, elsewhere.stdout + elsewhere.stderr);
  assert.match(elsewhere.stdout, /^2 receipts of hands fit/);
  assert.equal(
    lines((await brain.run("audit", "keys")).stdout)[0]?.["key"],
    (JSON.parse(keyLine) as JsonObject)["key"],
  );

  writeFileSync(exported, outcomes.replaceAll('"exitCode":0', '"exitCode":1'));
  const altered = await check();
  assert.equal(altered.code, 1);
  assert.equal(
    altered.stdout.match(/^unsigned action act_\S+, entry \d+ of run \S+, is not the outcome that the hand signed$/gm)
      ?.length,
    2,
  );
  writeFileSync(exported, outcomes);
  writeFileSync(
    keys,
    keyLine.replace(/"key":"../, (found) => `"key":"${found.endsWith("00") ? "01" : "00"}`),
  );
  assert.match((await check()).stdout, /which is not one of its hand's$/m);

  rewrite(brain.home, '"text":"Linux\\n"', '"text":"Minix\\n"');
  const forged = await brain.run("audit", "verify");
  assert.equal(forged.code, 1);
  assert.match(forged.stdout, /^unsigned action act_\S+, entry \d+ of run \S+, has other words than the hand signed$/m);
  assert.match(forged.stdout, /^fail 2 runs checked, .*1 outcome not as signed\.$/m);
});

test("over TCP a hand with a key of its own signs what came of an action, and a journal that says otherwise is found", async (t) => {
  await using host = await Stage.set();
  await using brain = await Stage.set();
  const folder = scratch(t);
  const [workspace, state, tokens] = [join(folder, "workspace"), join(folder, "state"), join(folder, "tokens.json")];
  mkdirSync(workspace);
  const [made] = lines((await host.run("tokens", "create", "--scopes", "hand,approve", "--json")).stdout);
  const token = String(made?.["token"]);
  assert.equal((await host.run("tokens", "export", token.split(".")[0] ?? "", "--out", tokens)).code, 0);
  const place = ["--state", state, "--workspace", workspace, "--tokens", tokens];
  const env = { PATH: process.env["PATH"], HOME: folder };
  const argv = [...NODE, HAND, "serve", "--tcp", "127.0.0.1:0", ...place, "--json"];
  const peer = await Peer.start({ argv, cwd: folder, env });
  t.after(() => peer.end("SIGKILL"));
  await using _ = await DaemonProcess.up(brain, { flags: NO_LOCAL });
  const dial = ["hands", "dial", `tcp://${String(peer.line["tcp"])}`, "--token", token];
  const dialled = await brain.run(...dial, "--name", "far");
  assert.equal(dialled.code, 0, dialled.stderr);
  assert.equal((await brain.run("hands", "exec", "far", "--", "uname", "-s")).stdout, "Linux\n");
  assert.equal((await brain.run("hands", "exec", "far", "--yes", "--", "touch", "made")).code, 0);
  const whole = await brain.run("audit", "verify");
  assert.equal(whole.code, 0, whole.stdout);
  assert.match(whole.stdout, /^2 receipts of hands fit\b/m);
  const [node = "", ...conditions] = NODE;
  const keyLine = execFileSync(node, [...conditions, HAND, "key", "--state", state], { encoding: "utf8", env });
  const { key } = JSON.parse(keyLine) as JsonObject;
  assert.equal(lines((await brain.run("audit", "keys")).stdout)[0]?.["key"], key);
  rewrite(brain.home, '"text":"Linux\\n"', '"text":"Minix\\n"');
  const forged = await brain.run("audit", "verify");
  assert.equal(forged.code, 1);
  assert.match(forged.stdout, /^unsigned action act_\S+, entry \d+ of run \S+, has other words than the hand signed$/m);
});

test("a receipt for another action, or by a key that the hand did not come with, is found", async (t) => {
  await using brain = await Stage.set();
  await using daemon = await DaemonProcess.up(brain, { flags: NO_LOCAL });
  const { url, token } = await invitation(daemon, "liar");
  const identity = await enrol({ url, token, name: "liar", workspace: "." });
  const client = await ForeignAgent.open(identity);
  t.after(() => client.socket.terminate());
  const [own, other] = [openReceiptSigner(scratch(t)), openReceiptSigner(scratch(t))];
  const abilities = ["tool.run", "command.exec", "action.judge"];
  const welcome = await client.ask({ ...helloOf(identity, abilities), receipt_key: own.key });
  assert.equal(welcome["receipts"], true, JSON.stringify(welcome));
  const plan = { kind: "facts", facts: "x" };
  const verdict = { decision: "allow", rule: "r", class: "read", reason: "" };
  const lies = [
    { by: own, action: "act_other" },
    { by: other, action: undefined },
  ];
  const serving = (async () => {
    for (let left = lies.length; left > 0;) {
      const { id, method, action_id, run_id } = (await client.next()) as Record<string, string>;
      if (method === "action.judge")
        client.say({ id: id!, ok: true, judgement: { plan, hash: "h", verdict, policy: "p", ledger: "l.1" } });
      if (method !== "command.exec") continue;
      const { by, action = action_id! } = lies[lies.length - left]!;
      const end = { type: "failed", fault: { code: "TOOL_FAILED", message: "no" } } as const;
      const receipt = by.sign({ run: run_id!, action, plan: "h", at: 1, ledger: "l.1" }, end);
      client.say({
        id: id!,
        action_id: action_id!,
        ok: false,
        code: "TOOL_FAILED",
        error: "no",
        settled: true,
        receipt: { ...receipt },
      });
      left -= 1;
    }
  })();
  for (const _ of lies) await brain.run("hands", "exec", "liar", "--", "true");
  await serving;
  const { code, stdout } = await brain.run("audit", "verify");
  assert.equal(code, 1, stdout);
  assert.match(stdout, /^unsigned .* has the receipt of action act_other of run /m);
  assert.match(
    stdout,
    new RegExp(`^unsigned .* has a receipt by the key ${other.key}, which is not one of its hand's$`, "m"),
  );
});
