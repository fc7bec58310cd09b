import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { HandEvent, JsonObject, Order } from "@vidro/core";
import { signMessage } from "@vidro/core/wire/agent-http";
import { HandAddresses } from "../../packages/brain/src/south/agent-http/direct-call.ts";
import { signatureCrypto } from "../../packages/brain/src/south/agent-http/signature-crypto.ts";
import { listenSigned } from "../../packages/hands/src/links/agent-http/signed-listener.ts";
import {
  orderOf,
  requestBytes,
  sent,
  signedBytes,
  SignedBrain,
  signedHost,
  signerOf,
} from "../support/signed-http-harness.ts";
import type { Signer } from "../support/signed-http-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* Hosts that listen: the brain calls them itself, and is believed only when it signs. */

const LOCAL = "127.0.0.1";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, LOCAL);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function performed(brain: SignedBrain, order: Order): Promise<HandEvent | undefined> {
  const remote = await brain.hands.at("h1");
  let last: HandEvent | undefined;
  for await (const event of remote.perform(order, new AbortController().signal)) last = event;
  return last;
}

interface Stage {
  readonly brain: SignedBrain;
  readonly keyid: string;
  readonly root: Uint8Array;
  readonly listen: { readonly host: string; readonly port: number; readonly url: string };
}

async function stage(t: TestContext): Promise<Stage> {
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const { keyid, root } = await brain.enrol("h1");
  const port = await freePort();
  return { brain, keyid, root, listen: { host: LOCAL, port, url: `http://${LOCAL}:${port}` } };
}

/** Says hello for a host that listens there, and never asks what is to be done. */
async function hello(brain: SignedBrain, signer: Signer, listenUrl: string): Promise<void> {
  const capabilities = ["command.exec", "tool.run"];
  const message = { method: "hello", agent_id: "h1", name: "x", version: "1", capabilities, listen_url: listenUrl };
  const { bytes } = signedBytes(signer, { url: `${brain.url}/southbound/v1/messages`, message });
  assert.equal((await sent(brain.url, bytes)).status, 200);
}

test("000-41: a host that listens where an administrator has allowed it gets its orders there, signed, and its replies are believed", async (t) => {
  const { brain, keyid, root, listen } = await stage(t);
  const heard: JsonObject[] = [];
  const host = await signedHost(t, keyid, root);
  const answer = async (message: JsonObject): Promise<JsonObject> => {
    heard.push(message);
    return { ok: true, exit_code: 0, stdout: "up", stderr: "", action_id: message["action_id"], id: message["id"] };
  };
  const listener = await listenSigned({ ...listen, ring: host.ring, now: Date.now, answer });
  t.after(() => listener.close());
  await brain.gateway.allowAddress("h1", listen.url);
  await hello(brain, signerOf({ keyid, root }), listen.url);
  const ended = await performed(brain, orderOf("uptime"));
  assert.ok(ended?.type === "finished" && ended.outcome.kind === "process" && ended.outcome.stdout.text === "up");
  assert.deepEqual([heard[0]?.["method"], heard[0]?.["command"]], ["command.exec", "uptime"]);
});

test("000-41, 000-51: a real hand that listens does what it is told there, once; output and ends find their way", async (t) => {
  const { brain, keyid, root, listen } = await stage(t);
  await brain.gateway.allowAddress("h1", listen.url);
  const host = await signedHost(t, keyid, root);
  await host.join(brain.url, { listen });
  const order = orderOf("sh", ["-c", "echo ran >> marks; echo $$"]);
  const first = await performed(brain, order);
  assert.equal(first?.type, "finished");
  assert.deepEqual(await performed(brain, order), first);
  assert.equal(readFileSync(join(host.workspace, "marks"), "utf8"), "ran\n");
  await brain.gateway.rotate("h1");
  for (let times = 0; times < 3; times += 1) assert.equal((await performed(brain, orderOf("true")))?.type, "finished");
});

test("a host that cannot be called at its address still gets its orders when it asks", async (t) => {
  const { brain, keyid, root, listen } = await stage(t);
  await brain.gateway.allowAddress("h1", `http://${LOCAL}:1`);
  const host = await signedHost(t, keyid, root);
  await host.join(brain.url, { listen: { ...listen, url: `http://${LOCAL}:1` } });
  assert.equal((await performed(brain, orderOf("true")))?.type, "finished");
});

test("a host is not called at an address that was not allowed", async (t) => {
  const { brain, keyid, root, listen } = await stage(t);
  const host = await signedHost(t, keyid, root);
  const stranger = createServer(() => assert.fail("the address was called"));
  stranger.listen(listen.port, LOCAL);
  await once(stranger, "listening");
  t.after(() => stranger.close());
  await brain.gateway.allowAddress("h1", "https://elsewhere.example");
  const port = await freePort();
  await host.join(brain.url, { listen: { ...listen, port } });
  assert.equal((await performed(brain, orderOf("true")))?.type, "finished");
});

test("000-53, 000-54: a host that listens takes nothing that the brain has not signed for it, now and once", async (t) => {
  const { keyid, root, listen } = await stage(t);
  const host = await signedHost(t, keyid, root);
  let heard = 0;
  const answer = async (): Promise<JsonObject> => ({ ok: true, heard: ++heard });
  const listener = await listenSigned({ ...listen, ring: host.ring, now: Date.now, answer });
  t.after(() => listener.close());
  const { keys } = signerOf({ keyid, root });
  const url = new URL("/southbound/v1/messages", listen.url);
  const ask = (more: Partial<Parameters<typeof signMessage>[0]> = {}) => {
    const nonce = randomBytes(16).toString("base64url");
    const message = { method: "command.exec", action_id: "a", command: "true" };
    const asked = signMessage({
      url,
      message,
      crypto: signatureCrypto,
      from: "toHand",
      keys,
      keyid,
      nonce,
      now: Date.now(),
      ...more,
    });
    return { asked, bytes: requestBytes(url, asked.headers, asked.body) };
  };
  const good = ask();
  assert.equal((await sent(listen.url, good.bytes)).status, 200);
  const bad = {
    "a replay": good.bytes,
    "the other direction": ask({ from: "toBrain" }).bytes,
    "another key": ask({ keyid: "h1/other" }).bytes,
    "another place": ask({ url: new URL("/southbound/v1/messages", "http://other.example") }).bytes,
    "an altered body": Buffer.from(ask().bytes.toString("latin1").replace('"true"', '"TRUE"'), "latin1"),
  };
  for (const [what, bytes] of Object.entries(bad)) {
    const { status, code } = await sent(listen.url, bytes);
    assert.deepEqual([status, code], [401, "SIGNATURE_INVALID"], what);
  }
  const late = await sent(listen.url, ask({ now: Date.now() - 400_000 }).bytes);
  assert.deepEqual([late.status, late.code], [401, "CLOCK_SKEW"]);
  const elsewhere = ask({ url: new URL("/other", listen.url) });
  const moved = requestBytes(new URL("/other", listen.url), elsewhere.asked.headers, elsewhere.asked.body);
  assert.equal((await sent(listen.url, moved)).status, 404);
  assert.equal(heard, 1);
});

test("addresses that are not safe to call are refused, and one that listens beyond its machine needs a certificate", async (t) => {
  const { brain, keyid, root } = await stage(t);
  const addresses = new HandAddresses(brain.records);
  const unsafe = [
    "http://host.example",
    "https://user:secret@host.example",
    "https://host.example/path",
    "https://host.example/?q",
    "https://169.254.169.254",
    "https://[fe80::1]",
    "https://[::ffff:169.254.169.254]",
    "https://0.0.0.0",
    "ftp://host.example",
    "file:///etc/passwd",
    "nonsense",
  ];
  for (const url of unsafe) await assert.rejects(addresses.allow("h1", "ana", url), { code: "BAD_REQUEST" }, url);
  await addresses.allow("h1", "ana", "https://host.example:8443");
  assert.ok(await addresses.isAllowed("h1", "https://host.example:8443"));
  await addresses.allow("h1", "ana", undefined);
  assert.ok(!(await addresses.isAllowed("h1", "https://host.example:8443")));
  const { ring } = await signedHost(t, keyid, root);
  const open = { host: "0.0.0.0", port: 0, ring, now: Date.now, answer: async () => ({}) };
  await assert.rejects(listenSigned(open), { code: "BAD_REQUEST" });
});
