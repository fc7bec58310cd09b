import { createHash, createPrivateKey, createPublicKey, randomBytes, sign } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { asFault, ED25519_PKCS8_PREFIX, endFacts, endWords, Fault, receiptText } from "@vidro/core";
import type { ActionEnd, Receipt } from "@vidro/core";

/** Signs receipts with the key of a hand. */
export interface ReceiptSigner {
  /** The public key, in hexadecimal digits. */
  readonly key: string;
  /** Signs a receipt for the end of an action; its plan is empty if it is no longer known. */
  sign(of: Pick<Receipt, "run" | "action" | "plan" | "at" | "ledger">, ended: ActionEnd): Receipt;
}

const SEED_BYTES = 32;
const PKCS8 = Buffer.from(ED25519_PKCS8_PREFIX, "hex");

/** Opens the key in a state folder, creating it if missing; throws LEDGER_UNWRITABLE if it cannot be used. */
export function openReceiptSigner(state: string): ReceiptSigner {
  const seed = readOrMakeSeed(join(state, "receipt-key"));
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const key = createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-SEED_BYTES).toString("hex");
  return {
    key,
    sign(of, ended) {
      const unsigned = { ...of, outcome: sha256(endFacts(ended)), words: sha256(endWords(ended)), key };
      return { ...unsigned, signature: sign(null, Buffer.from(receiptText(unsigned)), secret).toString("hex") };
    },
  };
}

/** Reads the seed. A new one is written under another name and then linked, so that the first of two processes wins. */
function readOrMakeSeed(file: string): Buffer {
  try {
    const found = readIfAny(file) ?? (makeSeed(file), readFileSync(file));
    if (found.length !== SEED_BYTES) throw new Error(`it has ${found.length} bytes instead of ${SEED_BYTES}`);
    return found;
  } catch (cause) {
    throw new Fault("LEDGER_UNWRITABLE", `The key in ${file} cannot be used: ${asFault(cause).message}.`, { cause });
  }
}

function readIfAny(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

function makeSeed(file: string): void {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  const handle = openSync(draft, "wx", 0o600);
  try {
    writeSync(handle, randomBytes(SEED_BYTES));
    fsyncSync(handle);
    linkSync(draft, file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  } finally {
    closeSync(handle);
    rmSync(draft, { force: true });
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
