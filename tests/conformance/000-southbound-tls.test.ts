import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { REGISTER_LIMITS, SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { parseInvitation, formatInvitationProof, formatInvitation } from "@vidro/core/wire/enrolment";
import { newKeyAndRequest } from "../../packages/hands/src/enrol/csr.ts";
import { enrol } from "../../packages/hands/src/enrol/join.ts";
import { ForeignAgent, helloOf, JoinedHand, openRefused, SouthboundHarness } from "../support/southbound-harness.ts";
import type { TlsClient } from "../support/southbound-harness.ts";

/* Who is let in to the southbound listener, and who is not: over real sockets, with certificates of every kind. */

const DAY_MS = 24 * 60 * 60 * 1000;

test("000-52: a hand without a certificate is refused before there is a WebSocket", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { ca } = await south.enrolled();
  const { status, body } = await openRefused(south.url, { ca });
  assert.deepEqual([status, body["ok"], body["code"]], [401, false, "AUTH_REQUIRED"]);
});

test("000-52: a certificate that is not one of a hand of this brain does not count", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { ca, agentId } = await south.enrolled();
  const { brain } = await south.authorityAt(Date.now);
  const uri = `subjectAltName=URI:spiffe://${brain}/hand/${agentId}`;
  const usage = "extendedKeyUsage=clientAuth";
  const forgeries = {
    "another authority": south.forged([usage, uri], "stranger"),
    "for a server": south.forged(["extendedKeyUsage=serverAuth", uri]),
    "for both": south.forged(["extendedKeyUsage=clientAuth,serverAuth", uri]),
    "for anything": south.forged([uri]),
    "no name": south.forged([usage]),
    "another brain": south.forged([usage, `subjectAltName=URI:spiffe://other/hand/${agentId}`]),
    "the name of no hand": south.forged([usage, `subjectAltName=URI:spiffe://${brain}/hand/nobody`]),
    "two names": south.forged([usage, `${uri},URI:spiffe://${brain}/hand/other`]),
    "a name of DNS": south.forged([usage, `subjectAltName=DNS:${agentId}`]),
    "an authority of its own": south.forged([usage, uri, "basicConstraints=critical,CA:TRUE"]),
    "a serial number that was never given": south.forged([usage, uri]),
  };
  for (const [what, client] of Object.entries(forgeries)) {
    const { status, body } = await openRefused(south.url, { ca, ...client });
    assert.deepEqual([status, body["code"]], [403, "CERTIFICATE_INVALID"], what);
  }
});

test("000-52: a certificate signed by itself does not count", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { ca } = await south.enrolled();
  const [key, cert] = [join(south.folder, "k"), join(south.folder, "c")];
  const made = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=me", "-keyout", key, "-out", cert];
  await promisify(execFile)("openssl", ["req", "-x509", ...made]);
  const client = { key: readFileSync(key), cert: readFileSync(cert) };
  const { status, body } = await openRefused(south.url, { ca, ...client });
  assert.deepEqual([status, body["code"]], [403, "CERTIFICATE_INVALID"]);
});

test("000-52: a certificate whose time is over, or has not come, does not count", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { ca, agentId } = await south.enrolled();
  for (const now of [Date.now() - 2 * DAY_MS, Date.now() + 2 * DAY_MS]) {
    const { key, csr } = newKeyAndRequest("x");
    const { certificate } = await (await south.authorityAt(() => now)).forHand(agentId, csr);
    const { status, body } = await openRefused(south.url, { ca, key, cert: certificate });
    assert.deepEqual([status, body["code"]], [403, "CERTIFICATE_INVALID"]);
  }
  const good = await south.enrolled("web-2");
  south.aheadMs = 2 * DAY_MS;
  const late = await openRefused(south.url, { ca, key: good.key, cert: good.certificate });
  assert.equal(late.body["code"], "CERTIFICATE_INVALID", "the brain's own clock counts too");
});

test("000-52: a certificate that has ended can be exchanged for a month, and only one of this brain that was given", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const { brain } = await south.authorityAt(Date.now);
  const uri = `subjectAltName=URI:spiffe://${brain}/hand/${identity.agentId}`;
  const stranger = south.forged(["extendedKeyUsage=clientAuth", uri], "stranger");
  const never = south.forged(["extendedKeyUsage=clientAuth", uri]);
  const { csr } = newKeyAndRequest("x");
  const renewBy = (client: TlsClient) =>
    post(south, { path: "/southbound/v1/renew", ca: identity.ca, ...client }, { csr });
  assert.equal((await renewBy({})).reply["code"], "AUTH_REQUIRED");
  assert.equal((await renewBy(stranger)).reply["code"], "CERTIFICATE_INVALID");
  assert.equal((await renewBy(never)).reply["code"], "CERTIFICATE_INVALID");
  south.aheadMs = 32 * DAY_MS;
  const own = { key: identity.key, cert: identity.certificate };
  assert.equal((await renewBy(own)).reply["code"], "CERTIFICATE_INVALID");
  south.aheadMs = 30 * DAY_MS;
  assert.equal((await renewBy(own)).status, 200);
});

test("000-52: clear text and older TLS get nothing", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { ca, key, certificate: cert } = await south.enrolled();
  const plain = connect(south.place);
  plain.end("GET /southbound HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  plain.on("error", () => undefined);
  let said = "";
  plain.on("data", (chunk: Buffer) => (said += chunk.toString("latin1")));
  await once(plain, "close");
  assert.doesNotMatch(said, /HTTP/);
  const old = connectTls({ ...south.place, ca, key, cert, maxVersion: "TLSv1.2" });
  const [error] = (await once(old, "error")) as [NodeJS.ErrnoException];
  assert.match(String(error.code), /PROTOCOL_VERSION/);
});

test("000-52: openssl finds TLS 1.3, our authority behind the certificate, and no session to resume", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { ca, key, certificate } = await south.enrolled();
  const file = (name: string, text: string): string => {
    writeFileSync(join(south.folder, name), text);
    return join(south.folder, name);
  };
  const shown = ["-CAfile", file("ca.pem", ca), "-cert", file("h.pem", certificate), "-key", file("h.key", key)];
  const session = join(south.folder, "session");
  const visit = async (...more: readonly string[]): Promise<string> => {
    const place = `${south.place.host}:${south.place.port}`;
    const child = spawn("openssl", ["s_client", "-connect", place, "-verify_return_error", ...shown, ...more]);
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString("utf8")));
    child.stdin.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await once(child, "close");
    return out;
  };
  const first = await visit("-sess_out", session);
  assert.match(first, /New, TLSv1\.3/);
  assert.match(first, /Verify return code: 0 \(ok\)/);
  assert.match(first, /Acceptable client certificate CA names\s+CN = Vidro/);
  const again = await visit(...(readdirSync(south.folder).includes("session") ? ["-sess_in", session] : []));
  assert.match(again, /New, TLSv1\.3/);
  assert.doesNotMatch(again, /Reused/);
});

test("000-52: a hand that is revoked while it is connected is cut off at once, and not let in again", async (t) => {
  const south = await SouthboundHarness.up(t);
  const joined = await JoinedHand.join(t, south);
  const { ca, key, certificate: cert, agentId } = joined.identity;
  const began = performance.now();
  await south.hands.revoke(agentId, "lost");
  const end = await joined.ended;
  assert.ok(performance.now() - began < 1000);
  assert.equal((end as { code?: string }).code, "HAND_REVOKED");
  const { status, body } = await openRefused(south.url, { ca, key, cert });
  assert.deepEqual([status, body["code"]], [403, "HAND_REVOKED"]);
});

test("a certificate is renewed over the live link, and the one before counts until the new one was used", async (t) => {
  const south = await SouthboundHarness.up(t);
  const first = await south.enrolled();
  const client = await ForeignAgent.open(first);
  await client.ask(helloOf(first));
  const fresh = newKeyAndRequest("web-1");
  const reply = await client.ask({ method: "cert.renew", action_id: "r1", csr: fresh.csr });
  assert.equal(reply["ok"], true);
  const second = { ...first, key: fresh.key, certificate: textIn(reply, "certificate") ?? "" };
  await (await ForeignAgent.open(first)).ask(helloOf(first));
  const next = await ForeignAgent.open(second);
  assert.equal((await next.ask(helloOf(second)))["ok"], true);
  const third = newKeyAndRequest("web-1");
  await next.ask({ method: "cert.renew", action_id: "r2", csr: third.csr });
  const { body } = await openRefused(south.url, { ca: first.ca, key: first.key, cert: first.certificate });
  assert.equal(body["code"], "CERTIFICATE_INVALID", "a certificate two renewals ago counts no more");
});

test("our hand renews its certificate by itself after two thirds of its life, with a new key", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const { key, csr } = newKeyAndRequest("web-1");
  const old = await (await south.authorityAt(() => Date.now() - (DAY_MS * 3) / 4)).forHand(identity.agentId, csr);
  const record = await south.records.get("hand-identity", identity.agentId);
  assert.ok(record !== undefined);
  await south.records.put({ ...record, body: { ...record.body, serials: [old.serial] } });
  const joined = await JoinedHand.join(t, south, { identity: { ...identity, key, certificate: old.certificate } });
  let now = await joined.state.readIdentity();
  while (now?.certificate === old.certificate) {
    await new Promise(setImmediate);
    now = await joined.state.readIdentity();
  }
  assert.ok(now !== undefined && now.key !== key);
  const client = await ForeignAgent.open(now);
  assert.equal((await client.ask(helloOf(now)))["ok"], true);
});

test("a connection ends when its certificate does", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  south.aheadMs = SOUTHBOUND_LIMITS.certificateMs - 4000;
  const client = await ForeignAgent.open(identity);
  assert.equal((await client.ask(helloOf(identity)))["ok"], true);
  assert.equal(await client.closed(), "CONNECTION_LOST");
});

test("nothing is ordered over a connection whose certificate has ended, whatever its timers say", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity));
  const closed = client.closed();
  south.aheadMs = 2 * DAY_MS;
  const hand = await south.hands.at(identity.agentId);
  const action = { id: "act_late", tool: "command", input: { command: "true" }, callId: "c" };
  const order = { action, run: "run_1", epoch: 1, ttlMs: 60_000 };
  for await (const event of hand.perform(order, new AbortController().signal))
    assert.ok(event.type === "failed" && event.fault.code === "HAND_UNAVAILABLE");
  assert.equal(await closed, "CONNECTION_LOST");
  assert.equal(client.heard.length, 1, "only the welcome was said");
});

function enrolBy(
  south: SouthboundHarness,
  ca: string,
  body: JsonObject,
): Promise<{ status: number; reply: JsonObject }> {
  return post(south, { path: "/southbound/v1/enrol", ca }, body);
}

async function post(
  south: SouthboundHarness,
  to: TlsClient & { readonly path: string; readonly ca: string },
  body: JsonObject,
): Promise<{ status: number; reply: JsonObject }> {
  const headers = { "content-type": "application/json" };
  const sent = request({ ...south.place, ...to, method: "POST", headers, agent: false });
  sent.end(JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [AsyncIterable<Buffer> & { statusCode: number }];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, reply: JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject };
}

test("an invitation counts once, also for many who come at the same time, and not when it is too old", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { certificate: ca } = await south.authorityAt(Date.now);
  const token = formatInvitationProof(parseInvitation(await south.invite("web-1")));
  const tries = Array.from({ length: 6 }, () => {
    const { csr } = newKeyAndRequest("x");
    return enrolBy(south, ca, { token, csr, name: "x" });
  });
  const statuses = (await Promise.all(tries)).map(({ status }) => status).sort((a, b) => a - b);
  assert.deepEqual(statuses, [200, 401, 401, 401, 401, 401]);
  const late = formatInvitationProof(parseInvitation(await south.invite("web-2", 1000)));
  south.aheadMs = 1000;
  const { reply } = await enrolBy(south, ca, { token: late, csr: newKeyAndRequest("x").csr, name: "x" });
  assert.equal(reply["code"], "INVALID_TOKEN");
});

test("an enrolment with a wrong secret or a request that cannot be used does not use the invitation up", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { certificate: ca } = await south.authorityAt(Date.now);
  const token = parseInvitation(await south.invite("web-1"));
  const { csr } = newKeyAndRequest("x");
  const wrong = formatInvitationProof({ ...token, secret: "A".repeat(43) });
  assert.equal((await enrolBy(south, ca, { token: wrong, csr, name: "x" })).status, 401);
  const rubbish = { token: formatInvitationProof(token), csr: "rubbish", name: "x" };
  assert.equal((await enrolBy(south, ca, rubbish)).status, 400);
  const extra = { token: formatInvitationProof(token), csr, name: "x", owner: "root" };
  const refused = await enrolBy(south, ca, extra);
  assert.deepEqual([refused.status, /owner/.test(textIn(refused.reply, "error") ?? "")], [400, true]);
  const { status, reply } = await enrolBy(south, ca, { token: formatInvitationProof(token), csr, name: "x" });
  assert.deepEqual([status, reply["name"]], [200, "web-1"], "the invitation's name counts, not the host's");
});

test("a client that guesses invitations is slowed down", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { certificate: ca } = await south.authorityAt(Date.now);
  const body = { token: `${"0".repeat(32)}.${"A".repeat(43)}`, csr: "x", name: "x" };
  const statuses: number[] = [];
  for (let tried = 0; tried <= SOUTHBOUND_LIMITS.enrolBurst; tried++)
    statuses.push((await enrolBy(south, ca, body)).status);
  assert.deepEqual(statuses, [...Array.from({ length: SOUTHBOUND_LIMITS.enrolBurst }, () => 401), 429]);
});

test("a host tells nothing to a listener that is not the brain which invited it", async (t) => {
  const [south, other] = [await SouthboundHarness.up(t), await SouthboundHarness.up(t)];
  const token = parseInvitation(await south.invite());
  const { fingerprint } = parseInvitation(await other.invite());
  const name = { name: "x", workspace: "/" };
  await assert.rejects(enrol({ url: other.url, token: formatInvitation(token), ...name }), {
    code: "CERTIFICATE_INVALID",
  });
  assert.deepEqual(
    other.log.map(({ event }) => event).filter((event) => /refused|enrolled/.test(String(event))),
    [],
  );
  const misled = { url: south.url, token: formatInvitation({ ...token, fingerprint }), ...name };
  await assert.rejects(enrol(misled), { code: "CERTIFICATE_INVALID" });
  assert.ok((await enrol({ url: south.url, token: formatInvitation(token), ...name })).agentId);
});

test("000-56: folders are closed to other users, and so is every file with a secret in it", async (t) => {
  const south = await SouthboundHarness.up(t);
  const joined = await JoinedHand.join(t, south);
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const ca = join(south.folder, "ca");
  assert.deepEqual([modeOf(ca), modeOf(joined.state.folder)], ["700", "700"]);
  for (const folder of [ca, joined.state.folder])
    for (const name of readdirSync(folder)) assert.equal(modeOf(join(folder, name)), "600", name);
});

test("a message that is too long, or in too many parts, ends the connection and no other", async (t) => {
  const south = await SouthboundHarness.up(t);
  const [one, two] = [await south.enrolled("one"), await south.enrolled("two")];
  const [long, parts, third] = await Promise.all([
    ForeignAgent.open(one),
    ForeignAgent.open(one),
    ForeignAgent.open(two),
  ]);
  await third.ask(helloOf(two));
  long.say("x".repeat(REGISTER_LIMITS.messageBytes + 1));
  for (let part = 0; part <= REGISTER_LIMITS.fragments; part++) parts.socket.send("x", { fin: false });
  await Promise.all([long.closed(), parts.closed()]);
  const reply = await third.ask({ method: "telemetry.push", action_id: "t", payload: {} });
  assert.equal(reply["ok"], true);
});
