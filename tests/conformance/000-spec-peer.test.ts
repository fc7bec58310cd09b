import assert from "node:assert/strict";
import { createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { ENROL_SCHEMA } from "@vidro/core/wire/enrolment";
import { REQUEST_SCHEMAS, HAND_MESSAGE_SCHEMAS } from "@vidro/core/wire/agent-ws-schemas";
import { SignedBrain } from "../support/signed-http-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* A hand that was written from SPEC.md alone: it takes the words of the wire from that text and none from our code. */

const SPEC = readFileSync(join(resolve(import.meta.dirname, "../.."), "SPEC.md"), "utf8");

/** The info of a key as the SPEC writes it. */
function labelOf(direction: string, keyid: string): string {
  const [, label] = new RegExp(`\`(vidro\\d+ ${direction} )<key_id>\``).exec(SPEC) ?? [];
  assert.ok(label !== undefined, `SPEC.md does not say how the key ${direction} is derived`);
  return `${label}${keyid}`;
}

/** A host with its root; `at` is when its messages are signed, in seconds. */
class Peer {
  readonly #url: string;
  readonly #keyid: string;
  readonly #key: Buffer;

  constructor(url: string, { keyid, root }: { readonly keyid: string; readonly root: Uint8Array }) {
    this.#url = url;
    this.#keyid = keyid;
    this.#key = Buffer.from(hkdfSync("sha256", root, "", labelOf("toBrain", keyid), 32));
  }

  async say(path: string, message: JsonObject, life: { created?: number; expires?: number } = {}): Promise<JsonObject> {
    const { created = Math.floor(Date.now() / 1000), expires = created + 60 } = life;
    const body = JSON.stringify(message);
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    const nonce = randomBytes(24).toString("base64url");
    const names = '"@method" "@authority" "@path" "@query" "content-type" "content-digest"';
    const stamp = `created=${created};expires=${expires};nonce="${nonce}";keyid="${this.#keyid}"`;
    const params = `(${names});${stamp};alg="hmac-sha256";tag="vidro-southbound"`;
    const values = ["POST", new URL(this.#url).host, path, "?", "application/json", digest];
    const lines = names.split(" ").map((name, at) => `${name}: ${values[at]}`);
    const base = [...lines, `"@signature-params": ${params}`].join("\n");
    const mac = createHmac("sha256", this.#key).update(base).digest("base64");
    const headers = {
      "content-type": "application/json",
      "content-digest": digest,
      "signature-input": `vidro1=${params}`,
      signature: `vidro1=:${mac}:`,
    };
    const response = await fetch(`${this.#url}${path}`, { method: "POST", headers, body });
    return (await response.json()) as JsonObject;
  }
}

const HELLO = { method: "hello", agent_id: "web-1", name: "web-1", version: "1.0.0", capabilities: ["command.exec"] };
const MESSAGES = "/southbound/v1/messages";

test("000-39 a hand that was written from SPEC.md derives its keys, is welcomed, and answers an order by action.result", async (t) => {
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const peer = new Peer(brain.url, await brain.enrol("web-1"));
  const welcome = await peer.say(MESSAGES, { ...HELLO, timestamp: new Date().toISOString(), colour: "unknown here" });
  assert.equal(welcome["ok"], true, JSON.stringify(welcome));
  const stop = new AbortController();
  const action = { id: "act_1", tool: "command", input: { command: "true" }, callId: "act_1" };
  const order = { action, run: "run_1", epoch: 1, ttlMs: 60_000, approved: "by a person" };
  const hand = await brain.hands.at("web-1");
  const ended = Array.fromAsync(hand.perform(order, stop.signal));
  const { messages } = (await peer.say("/southbound/v1/poll", {})) as { messages: readonly JsonObject[] };
  assert.deepEqual([messages[0]?.["method"], messages[0]?.["action_id"]], ["command.exec", "act_1"]);
  const result = { method: "action.result", action_id: "act_1", ok: true, exit_code: 0, stdout: "done", stderr: "" };
  assert.equal((await peer.say(MESSAGES, result))["ok"], true);
  const last = (await ended).at(-1);
  assert.ok(last?.type === "finished" && last.outcome.kind === "process" && last.outcome.stdout.text === "done");
});

test("000-39 SPEC.md names what an enrolment takes and gives, and each message of the wire with its fields", () => {
  const [, taken = ""] = /`POST \/southbound\/v1\/enrol` with `\{([^}]*)\}`/.exec(SPEC) ?? [];
  const fields = taken.split(", ").map((field) => field.replace("?", ""));
  assert.deepEqual(fields.toSorted(), Object.keys(ENROL_SCHEMA["properties"] as JsonObject).toSorted());
  for (const [method, { required = [] }] of Object.entries({ ...REQUEST_SCHEMAS, ...HAND_MESSAGE_SCHEMAS })) {
    const rows = SPEC.split("\n").filter((line) => line.startsWith("| ") && line.includes(`\`${method}\``));
    for (const field of required as readonly string[])
      assert.ok(
        rows.some((row) => row.includes(field)),
        `SPEC.md has no ${field} of ${method}`,
      );
  }
});

test("000-54 a signed message counts until it expires, also when its signer chose a shorter time, and not a second longer", async (t) => {
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const peer = new Peer(brain.url, await brain.enrol("web-1"));
  const now = Math.floor(Date.now() / 1000);
  brain.clock = () => now * 1000;
  const said = async (created: number, expires: number): Promise<unknown> =>
    (await peer.say(MESSAGES, HELLO, { created, expires }))["code"];
  assert.equal(await said(now - 61, now - 1), "CLOCK_SKEW");
  assert.equal(await said(now - 200, now - 140), "CLOCK_SKEW");
  assert.equal(await said(now - 10, now - 5), "CLOCK_SKEW");
  assert.equal(await said(now - 60, now), undefined);
  assert.equal(await said(now - 10, now + 5), undefined);
  assert.equal(await said(now, now + 61), "SIGNATURE_INVALID");
  assert.equal(await said(now, now), "SIGNATURE_INVALID");
});
