import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Fault, TOKEN_LIMITS } from "@vidro/core";
import { rejects } from "../stores/journal.fixture.ts";
import { onTokens } from "./tokens.fixture.ts";

const REVOKER = fileURLToPath(new URL("tokens.fixture.ts", import.meta.url));
const RIGHT_AWAY_MS = 1000;

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

onTokens("a token is hashed once, then known for ten minutes", async ({ tokens, clock }) => {
  const { token } = await tokens.create({ owner: "me" });
  const first = await elapsed(() => tokens.verify(token));
  const known: number[] = [];
  for (let round = 0; round < 9; round += 1) known.push(await elapsed(() => tokens.verify(token)));
  const again = median(known);
  assert.ok(again < first / 2, `${first} ms, then ${again} ms`);
  clock.now += TOKEN_LIMITS.cacheMs;
  const late = await elapsed(() => tokens.verify(token));
  assert.ok(again < late / 2, `${again} ms, then ${late} ms`);
});

onTokens("a token whose row has changed is not taken from memory", async ({ tokens, records }) => {
  const { token, tokenId } = await tokens.create({ owner: "me" });
  await tokens.verify(token);
  const record = await records.get("token", tokenId);
  assert.ok(record);
  const other = await tokens.create({ owner: "me" });
  const secretHash = (await records.get("token", other.tokenId))?.body["secretHash"];
  await records.put({ ...record, body: { ...record.body, secretHash } });
  await rejects(tokens.verify(token), "INVALID_TOKEN");
});

onTokens("an unknown id takes as long as a wrong secret", async ({ tokens }) => {
  const { tokenId } = await tokens.create({ owner: "me" });
  const secret = "A".repeat(43);
  const refused = (id: string): Promise<number> =>
    elapsed(() => rejects(tokens.verify(`${id}.${secret}`), "INVALID_TOKEN"));
  const [unknown, wrong, malformed]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < 9; round += 1) {
    unknown.push(await refused("0".repeat(32)));
    wrong.push(await refused(tokenId));
    malformed.push(await refused("0"));
  }
  const ratio = median(unknown) / median(wrong);
  assert.ok(ratio > 0.5 && ratio < 2, `${median(unknown)} ms and ${median(wrong)} ms`);
  assert.ok(median(malformed) < median(unknown) / 5, "what is no token at all costs nothing");
});

onTokens("one token that many present at once is hashed once", async ({ tokens }) => {
  const { token } = await tokens.create({ owner: "me" });
  const many = TOKEN_LIMITS.hashes + TOKEN_LIMITS.waiting + 100;
  const verified = await Promise.all(Array.from({ length: many }, () => tokens.verify(token)));
  assert.equal(verified.length, many);
});

onTokens("more different tokens than may wait are told to come again", async ({ tokens }) => {
  const { token } = await tokens.create({ owner: "me" });
  await tokens.verify(token);
  const guesses = Array.from({ length: TOKEN_LIMITS.hashes + TOKEN_LIMITS.waiting + 5 }, (_, n) =>
    n.toString(16).padStart(32, "0"),
  );
  const settled = Promise.allSettled(guesses.map((id) => tokens.verify(`${id}.${"A".repeat(43)}`)));
  await tokens.verify(token);
  const faults = (await settled).map((each) => (each.status === "rejected" ? (each.reason as unknown) : undefined));
  const codes = faults.map((fault) => (fault instanceof Fault ? fault.code : undefined));
  assert.equal(codes.filter((code) => code === "RATE_LIMITED").length, 5);
  assert.equal(codes.filter((code) => code === "INVALID_TOKEN").length, guesses.length - 5);
  const limited = faults.find((fault) => fault instanceof Fault && fault.code === "RATE_LIMITED");
  assert.equal(limited instanceof Fault && limited.retryAfterMs, TOKEN_LIMITS.retryAfterMs);
  await rejects(tokens.verify(`${"f".repeat(32)}.${"A".repeat(43)}`), "INVALID_TOKEN");
});

onTokens("revoking a token ends its live sessions, and no other's", async ({ tokens }) => {
  const [mine, other] = [await tokens.create({ owner: "me" }), await tokens.create({ owner: "me" })];
  const sessions = [await tokens.verify(mine.token), await tokens.verify(mine.token)];
  const rest = await tokens.verify(other.token);
  const ended = sessions.map(({ revoked }) => new Promise((resolve) => revoked.addEventListener("abort", resolve)));
  const took = await elapsed(async () => {
    await tokens.revoke(mine.tokenId);
    await Promise.all(ended);
  });
  assert.ok(took < RIGHT_AWAY_MS, `${took} ms`);
  assert.equal(rest.revoked.aborted, false);
});

onTokens("a token that another process revokes ends its live sessions here within a second", async (scene) => {
  const { tokens, path } = scene;
  const { token, tokenId } = await tokens.create({ owner: "me" });
  const { revoked } = await tokens.verify(token);
  const endedAt = new Promise<number>((resolve) => revoked.addEventListener("abort", () => resolve(performance.now())));
  await promisify(execFile)(process.execPath, ["--conditions=vidro-source", REVOKER, path, tokenId]);
  const revokedAt = performance.now();
  const took = (await endedAt) - revokedAt;
  assert.ok(took < RIGHT_AWAY_MS, `${took} ms after the other process was done`);
  await rejects(tokens.verify(token), "INVALID_TOKEN");
});
