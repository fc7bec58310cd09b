import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { TOKEN_LIMITS } from "@vidro/core";
import { exportJWK, SignJWT } from "jose";
import type { JWTPayload } from "jose";
import { LOCAL_OWNER } from "./caller.ts";
import { folder, rejects } from "../stores/journal.fixture.ts";
import { memoryStore } from "../stores/memory.ts";
import { Tokens } from "./tokens.ts";
import { jwtVerifier } from "./jwt.ts";
import { ROLES } from "./scopes.ts";

const SECRET = "a secret of more than thirty-two bytes";
const NOW_MS = Date.parse("2030-01-01");
const now = (): number => NOW_MS;
const seconds = (ms: number): number => Math.floor((NOW_MS + ms) / 1000);
const PERSON = { sub: "ann", exp: seconds(60_000), roles: ["user"] };
const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PUBLIC_PEM = pair.publicKey.export({ type: "spki", format: "pem" });

function signed(payload: JWTPayload, secret = SECRET): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(secret));
}

function signedByKey(payload: JWTPayload, { privateKey } = pair, kid = "one"): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid }).sign(privateKey);
}

async function keySetText(): Promise<string> {
  return JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "RS256" }] });
}

void test("a person's token that a shared secret signs is good: sub is the owner, roles give scopes", async () => {
  const verify = jwtVerifier({ secret: SECRET, now });
  const { revoked, ...ann } = await verify(await signed({ ...PERSON, jti: "7" }));
  const expiresAt = PERSON.exp * 1000;
  assert.deepEqual(ann, { owner: "ann", tokenId: "jwt:7", scopes: new Set(ROLES.user), admin: false, expiresAt });
  assert.equal(revoked.aborted, false);
  assert.equal((await verify(await signed({ ...PERSON, roles: "admin" }))).admin, true);
  assert.equal((await verify(await signed({ ...PERSON, roles: ["nobody", 7, "__proto__"] }))).scopes.size, 0);
});

void test("another claim and other roles can be agreed on", async () => {
  const roles = { operator: ["runs", "metrics"] };
  const verify = jwtVerifier({ secret: SECRET, now, rolesClaim: "https://example.com/groups", roles });
  const token = await signed({ ...PERSON, "https://example.com/groups": ["operator", "user"] });
  assert.deepEqual((await verify(token)).scopes, new Set(["runs", "metrics"]));
});

void test("a signed token that is over, early, foreign, or says too little is refused", async () => {
  const verify = jwtVerifier({ secret: SECRET, issuer: "us", audience: "vidro", now });
  const good = { ...PERSON, iss: "us", aud: "vidro" };
  await verify(await signed(good));
  await rejects(verify(await signed({ ...good, exp: seconds(-TOKEN_LIMITS.skewMs) })), "TOKEN_EXPIRED");
  const bad: JWTPayload[] = [
    { ...good, nbf: seconds(TOKEN_LIMITS.skewMs + 1000) },
    { ...good, iss: "them" },
    { ...good, aud: "other" },
    { iss: "us", aud: "vidro", sub: "ann" },
    { iss: "us", aud: "vidro", exp: good.exp },
    { ...good, sub: "" },
    { ...good, sub: "  " },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a signer puts there is not ours to say
    ...[7, true, ["ann"], { length: 1 }].map((sub) => ({ ...good, sub }) as unknown as JWTPayload),
    { ...good, sub: LOCAL_OWNER },
  ];
  for (const payload of bad) await rejects(verify(await signed(payload)), "INVALID_TOKEN");
  await rejects(verify(await signed(good, "another secret of many, many bytes")), "INVALID_TOKEN");
  await rejects(verify("e30.e30.e30"), "INVALID_TOKEN");
});

void test("a token cannot choose how it is checked", async () => {
  const verify = jwtVerifier({ publicKey: PUBLIC_PEM, now });
  await verify(await signedByKey(PERSON));
  await rejects(verify(await signedByKey(PERSON, stranger)), "INVALID_TOKEN");
  // The public key is public: who signs with it as if it were a secret must not be believed.
  await rejects(verify(await signed(PERSON, PUBLIC_PEM)), "INVALID_TOKEN");
  const bare = [{ alg: "none" }, PERSON].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  await rejects(verify(`${bare.join(".")}.`), "INVALID_TOKEN");
});

void test("keys come from a file, and a missing file is not the token's fault", async () => {
  using place = folder();
  const file = join(place.path, "keys.json");
  const verify = jwtVerifier({ keySet: file, now });
  const token = await signedByKey(PERSON);
  assert.match((await rejects(verify(token), "KEYS_UNAVAILABLE")).message, /keys\.json/);
  writeFileSync(file, await keySetText());
  assert.equal((await verify(token)).owner, "ann");
  await rejects(verify(await signedByKey(PERSON, stranger)), "INVALID_TOKEN");
  await rejects(verify(await signedByKey(PERSON, pair, "two")), "INVALID_TOKEN");
});

void test("keys come from an address, are fetched once, and an address that fails is not the token's fault", async () => {
  const text = await keySetText();
  let status = 500;
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server on a port has an address of this shape
  const { port } = server.address() as AddressInfo;
  const verify = jwtVerifier({ keySet: `http://127.0.0.1:${port}/keys`, now });
  const token = await signedByKey(PERSON);
  await rejects(verify(token), "KEYS_UNAVAILABLE");
  status = 200;
  for (let round = 0; round < 3; round += 1) assert.equal((await verify(token)).owner, "ann");
  assert.equal(asked, 2);
  server.close();
});

void test("what signatures are checked with has to be said once and well", () => {
  const bad = [{}, { secret: "short" }, { secret: SECRET, publicKey: PUBLIC_PEM }, { publicKey: "no key" }];
  for (const options of bad) assert.throws(() => jwtVerifier(options), { code: "BAD_REQUEST" });
});

void test("both kinds of token are told apart, and signed ones are nothing where they are not configured", async () => {
  const { records } = memoryStore();
  const token = await signed(PERSON);
  await rejects(new Tokens(records).verify(token), "INVALID_TOKEN");
  const tokens = new Tokens(records, { jwt: jwtVerifier({ secret: SECRET, now }) });
  assert.equal((await tokens.verify(token)).owner, "ann");
  const own = await tokens.create({ owner: "bob" });
  assert.equal((await tokens.verify(own.token)).owner, "bob");
  tokens.close();
});

void test("keys come over https beyond this machine", () => {
  for (const keySet of ["http://keys.example/jwks", "http://10.0.0.1/jwks", "http://127.0.0.1.example/jwks"])
    assert.throws(() => jwtVerifier({ keySet, now }), { code: "BAD_REQUEST" }, keySet);
  for (const keySet of ["https://keys.example/jwks", "http://localhost:1/jwks", "http://[::1]:1/jwks"])
    jwtVerifier({ keySet, now });
});
