import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { asFault, Fault, isObject, TOKEN_LIMITS } from "@vidro/core";
import { LOCAL_OWNER } from "./caller.ts";
import type { Tokens } from "./tokens.ts";

/**
 * The administrator's token of this machine: made at the first start, read from its file at every later one. Only the
 * owner of the file can read it. A token that was revoked since is replaced. The secret is not checked here: that would
 * delay the start by a hash, and a request with a wrong secret is refused anyway.
 */
export async function ensureFirstToken(tokens: Tokens, file: string): Promise<string> {
  const found = await readToken(file);
  if (found !== undefined && (await tokens.namesAdmin(found))) return found;
  const made = await tokens.create({ owner: LOCAL_OWNER, role: "admin" });
  const draft = `${file}.${randomUUID()}`;
  try {
    await write(draft, made.token);
    if (found !== undefined) await rename(draft, file);
    else if (!(await publish(draft, file))) {
      await tokens.revoke(made.tokenId);
      return (await readToken(file)) ?? made.token;
    }
    return made.token;
  } catch (cause) {
    await tokens.revoke(made.tokenId);
    throw new Fault("STORE_UNREADABLE", `${file} cannot be written: ${asFault(cause).message}.`, { cause });
  } finally {
    await rm(draft, { force: true });
  }
}

async function readToken(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, "utf8");
    await chmod(file, 0o600);
    return text.slice(0, TOKEN_LIMITS.chars).trim();
  } catch (cause) {
    if (isObject(cause) && cause["code"] === "ENOENT") return undefined;
    throw new Fault("STORE_UNREADABLE", `${file} cannot be read: ${asFault(cause).message}.`, { cause });
  }
}

async function write(draft: string, token: string): Promise<void> {
  await mkdir(dirname(draft), { recursive: true, mode: 0o700 });
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Publishes the draft unless another process was faster: link(), unlike rename(), does not replace a file. */
async function publish(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (thrown) {
    if (isObject(thrown) && thrown["code"] === "EEXIST") return false;
    throw thrown;
  }
}
