import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The secrets that lie in the home of a brain, so that they are redacted by value: the administrator's token, its secret
 * half alone, and the key of the seals, in the forms in which programs show bytes. A file that is not there, as before
 * the first start, or cannot be read adds nothing.
 */
export async function readOwnSecrets(home: string): Promise<readonly string[]> {
  const [token, key] = await Promise.all([readIfAny(join(home, "token")), readIfAny(join(home, "audit-key"))]);
  const [, secret = ""] = token.toString("latin1").trim().split(".");
  const halves = secret === "" ? [] : [token.toString("latin1").trim(), secret];
  return [...halves, ...formsOf(Buffer.from(secret, "base64url")), ...formsOf(key)];
}

function formsOf(bytes: Buffer): readonly string[] {
  if (bytes.length === 0) return [];
  return [bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
}

async function readIfAny(file: string): Promise<Buffer> {
  return await readFile(file).catch(() => Buffer.alloc(0));
}
