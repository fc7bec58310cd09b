import { writeFile } from "node:fs/promises";
import type { TokenRow, Tokens } from "@vidro/brain/home";
import { Fault } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import { EXIT } from "../program/exit-codes.ts";
import { parseExpiry } from "../program/expiry.ts";
import { paint } from "../view/symbols.ts";
import { waitForReader, print, say, writeJson } from "../program/output.ts";
import { withHomeBrain } from "../brain-api/open-brain-api.ts";

const ID_CHARS = 32;
const OWNER_CHARS = 20;
const SCOPES_CHARS = 60;

/** Creates a token and prints its secret, which is stored nowhere. */
export async function createToken(flags: {
  readonly role: "user" | "admin";
  readonly scopes?: readonly string[];
  readonly owner?: string;
  readonly expires?: string;
  readonly json?: boolean;
}): Promise<number> {
  const { role, scopes, expires } = flags;
  const expiresAt = expires === undefined ? undefined : parseExpiry(expires, Date.now());
  const { LOCAL_OWNER } = await import("@vidro/brain");
  return withTokens(async (tokens) => {
    const made = await tokens.create({
      owner: flags.owner ?? LOCAL_OWNER,
      ...(scopes === undefined ? { role } : { scopes }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
    const end = isoTime(made.expiresAt);
    if (flags.json === true) {
      writeJson({ token_id: made.tokenId, token: made.token, scopes: made.scopes, expires_at: end });
      return EXIT.ok;
    }
    print(made.token);
    say(`It may do: ${made.scopes.join(", ")}. It expires: ${end ?? "never"}. Keep it now: it is not shown again.`);
    return EXIT.ok;
  });
}

/** Lists tokens without secrets, oldest first. */
export async function listTokens(flags: { readonly json?: boolean }): Promise<number> {
  return withTokens(async (tokens) => {
    let last: TokenRow | undefined;
    const heading = `${"TOKEN".padEnd(ID_CHARS)}  ${"OWNER".padEnd(OWNER_CHARS)}  STATE, WHAT IT MAY DO`;
    for (let page = await tokens.list(); page.length > 0; page = await tokens.list({ after: last!.tokenId })) {
      if (last === undefined && flags.json !== true) print(paint("dim", heading));
      for (const row of page) {
        if (flags.json === true) writeJson(lineOf(row));
        else print(wordsOf(row));
      }
      last = page.at(-1);
      await waitForReader();
    }
    if (last === undefined && flags.json !== true) say("No tokens yet. Make one: vidro tokens create");
    return EXIT.ok;
  });
}

/** Revokes a token, given by its id or as a whole, and ends its connections. */
export async function revokeToken(given: string): Promise<number> {
  const [tokenId = ""] = given.split(".");
  return withTokens(async (tokens) => {
    await tokens.revoke(tokenId);
    say(`${oneLine(tokenId, SCOPES_CHARS)} is revoked.`);
    return EXIT.ok;
  });
}

/** Writes tokens, with the hashes of their secrets, to a new file for a hand on another host. */
export async function exportTokens(given: readonly string[], file: string): Promise<number> {
  const ids = given.map((one) => one.split(".")[0] ?? "");
  return withHomeBrain(async (brain) => {
    const records = await Promise.all(ids.map((id) => brain.records.get("token", id)));
    const missing = ids.find((_, index) => records[index] === undefined);
    if (missing !== undefined) throw new Fault("NOT_FOUND", `There is no token ${oneLine(missing, SCOPES_CHARS)}.`);
    const text = `${JSON.stringify({ tokens: records.map((record) => record?.body) }, null, 2)}\n`;
    await writeFile(file, text, { mode: 0o600, flag: "wx" }).catch((cause: Error) => {
      throw new Fault("BAD_REQUEST", `${file} cannot be written: ${cause.message}`, { cause });
    });
    say(`${ids.length === 1 ? "One token is" : `${ids.length} tokens are`} in ${file}.`);
    return EXIT.ok;
  });
}

/** Does some work with the tokens of this home; a running daemon notices changes by itself. */
async function withTokens(work: (tokens: Tokens) => Promise<number>): Promise<number> {
  return withHomeBrain(async (brain) => {
    const { Tokens: Store } = await import("@vidro/brain/home");
    const tokens = new Store(brain.records);
    try {
      return await work(tokens);
    } finally {
      tokens.close();
    }
  });
}

function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function lineOf(row: TokenRow): { readonly token_id: string; readonly [field: string]: unknown } {
  const { tokenId, owner, scopes, expiresAt, revoked, createdAt } = row;
  return {
    token_id: tokenId,
    owner,
    scopes,
    expires_at: isoTime(expiresAt),
    revoked,
    created_at: isoTime(createdAt),
  };
}

function wordsOf({ tokenId, owner, scopes, expiresAt, revoked }: TokenRow): string {
  const state = revoked ? "revoked" : expiresAt === null ? "good" : expiryWords(expiresAt);
  return [
    paint("bold", tokenId),
    oneLine(owner, OWNER_CHARS).padEnd(OWNER_CHARS),
    paint(state === "revoked" ? "red" : "dim", state),
    oneLine(scopes.join(","), SCOPES_CHARS),
  ].join("  ");
}

function expiryWords(expiresAt: number): string {
  return `${expiresAt <= Date.now() ? "expired" : "good until"} ${isoTime(expiresAt)}`;
}
