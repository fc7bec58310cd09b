import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@vidro/core";

const MAGIC = "GGUF";
const HEAD_BYTES = 24;

/** The model file at a path: the file itself, or the only GGUF file of a folder; a Fault names the reason when there is none. */
export function findGguf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw headRefusal(`There is nothing at ${path}.`);
  if (!found.isDirectory()) return requireGguf(path);
  const files = readdirSync(path).filter((name) => name.endsWith(".gguf"));
  const [only] = files;
  if (only !== undefined && files.length === 1) return requireGguf(join(path, only));
  throw headRefusal(
    files.length === 0 ? `${path} has no GGUF file.` : `${path} has ${files.sort().join(", ")}: name one.`,
  );
}

/** Checks that a file begins as a GGUF model does. */
function requireGguf(path: string): string {
  const head = readHead(path);
  if (head.length < HEAD_BYTES || head.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw headRefusal(`${path} is no GGUF model: it does not begin with ${MAGIC}.`);
  return path;
}

function readHead(path: string): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
  } catch (cause) {
    throw headRefusal(`${path} cannot be read: ${(cause as Error).message}.`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function headRefusal(why: string): Fault {
  return new Fault("BAD_REQUEST", `${why} --model takes a GGUF file, or a folder with one.`);
}
