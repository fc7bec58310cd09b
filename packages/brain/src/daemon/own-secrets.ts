import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { redactor, type Redactor } from "@vidro/core/redact";

const TOKEN_FILE = "token";
const KEY_FILE = "audit-key";
/** One list for all time: another one would mean that there is another secret. */
const NO_SECRETS: readonly string[] = [];

/**
 * Redacts by value what was configured and the secrets in the home of a brain: the administrator's token, its secret
 * half alone, and the key of the seals, in the forms in which programs show bytes. Their files are looked at before
 * each text, because the first start makes them, and a daemon that is started beside this process may make them too.
 * `read` gives secrets that become known later, and another list when there is another one.
 */
export function homeRedactor(
  home: string,
  configured: readonly string[],
  read: () => readonly string[] = () => NO_SECRETS,
): Redactor {
  const now = (): Redactor => redactor([...configured, ...read(), ...readOwnSecrets(home)]);
  let seen = marksIn(home);
  let keys = read();
  let known = now();
  const current = (): Redactor => {
    const marks = marksIn(home);
    if (marks !== seen || read() !== keys) [seen, keys, known] = [marks, read(), now()];
    return known;
  };
  return {
    text: (text) => current().text(text),
    value: (value) => current().value(value),
    stream: () => current().stream(),
  };
}

/** A text that changes when one of the files is made or replaced. */
function marksIn(home: string): string {
  return [TOKEN_FILE, KEY_FILE].map((name) => markOf(join(home, name))).join(" ");
}

function markOf(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat === undefined ? "" : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
  } catch {
    return "";
  }
}

/** The secrets of a home; a file that is not there or cannot be read adds nothing. */
function readOwnSecrets(home: string): readonly string[] {
  const token = readIfAny(join(home, TOKEN_FILE)).toString("latin1").trim();
  const [, secret = ""] = token.split(".");
  const halves = secret === "" ? [] : [token, secret];
  return [...halves, ...formsOf(Buffer.from(secret, "base64url")), ...formsOf(readIfAny(join(home, KEY_FILE)))];
}

function formsOf(bytes: Buffer): readonly string[] {
  if (bytes.length === 0) return [];
  return [bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
}

function readIfAny(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
