import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { asFault, Fault, isObject } from "@vidro/core";

/**
 * Random bytes in a file that only its owner can read, made when it is missing; of two processes, the first one wins.
 * STORE_UNREADABLE when it cannot be read or is not as long as it was made.
 */
export async function secretFile(file: string, bytes: number): Promise<Uint8Array> {
  try {
    const secret = (await readSecret(file)) ?? (await makeSecret(file, bytes));
    if (secret.length !== bytes) throw new Error(`it has ${secret.length} bytes instead of ${bytes}`);
    return secret;
  } catch (cause) {
    throw new Fault("STORE_UNREADABLE", `The secret in ${file} cannot be used: ${asFault(cause).message}.`, { cause });
  }
}

async function readSecret(file: string): Promise<Buffer | undefined> {
  try {
    const secret = await readFile(file);
    await chmod(file, 0o600);
    return secret;
  } catch (thrown) {
    if (isObject(thrown) && thrown["code"] === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Writes the whole file under another name and links it: link(), unlike rename(), does not replace a file. */
async function makeSecret(file: string, bytes: number): Promise<Buffer> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(randomBytes(bytes));
    await handle.sync();
    await link(draft, file).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EEXIST") throw thrown;
    });
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
  return readFile(file);
}
