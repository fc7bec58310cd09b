import { OFFLINE_LIMITS } from "@vidro/core";
import { numbersIn, operands } from "./slots.ts";
import type { Token } from "./tokens.ts";
import type { Understanding, Want } from "./want.ts";
import { isStopWord } from "./words.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const AGAIN = words(
  "only just top apenas solamente again once repeat refresh novo novamente vez outra repita atualizado otra nuevo repite now agora ahora",
);
const PLACE = words(
  "folder directory pasta diretorio carpeta directorio file arquivo archivo port porta puerto instead em",
);
const MEMORY = words("memory ram memoria");
const CPU = words("cpu processor processador procesador");
const BY = words("by por pela pelo sorted ordered ordenados");

/**
 * What a task means that only leans on the one before it: "and in /var?", "and 443?", "again", "by memory". A task with a
 * word of its own, or with a quoted text, is a request of its own.
 */
export function followUp(tokens: readonly Token[], { wants }: Understanding): readonly Want[] | undefined {
  const last = wants.at(-1);
  if (last === undefined || tokens.length === 0 || tokens.length > OFFLINE_LIMITS.followUpWords) return undefined;
  if (operands(tokens, "quote").length > 0) return undefined;
  const plain = tokens.filter(({ kind }) => kind === undefined).map((token) => token.plain);
  const reordered = byOther(plain, last);
  if (reordered !== undefined) return [reordered];
  if (plain.some((word) => !AGAIN.has(word) && !PLACE.has(word) && !isStopWord(word))) return undefined;
  const [path] = operands(tokens, "path", "file").map(({ written }) => written);
  if (path !== undefined) return elsewhere(last, path);
  const [number] = numbersIn(tokens);
  if (number !== undefined) return withNumber(last, number);
  return plain.some((word) => AGAIN.has(word)) && last.kind !== "run" ? wants : undefined;
}

function byOther(plain: readonly string[], last: Want): Want | undefined {
  const isOrder = last.kind === "top-cpu" || last.kind === "top-memory";
  if (!isOrder || !plain.some((word) => BY.has(word)) || plain.length > 5) return undefined;
  if (plain.some((word) => MEMORY.has(word))) return { ...last, kind: "top-memory" };
  return plain.some((word) => CPU.has(word)) ? { ...last, kind: "top-cpu" } : undefined;
}

const PLACED = new Set([
  "disk",
  "inodes",
  "largest",
  "largest-folders",
  "list",
  "read",
  "find",
  "search",
  "folder-size",
]);
const OF_FILES = new Set(["count-files", "count-lines", "file-info", "git-blame", "git-diff", "git-log", "log-errors"]);

function elsewhere(want: Want, path: string): readonly Want[] | undefined {
  return PLACED.has(want.kind) || OF_FILES.has(want.kind) ? [{ ...want, path }] : undefined;
}

function withNumber(want: Want, number: number): readonly Want[] | undefined {
  if (want.kind === "ports") return [{ kind: "ports", number }];
  if (want.kind === "read" && want.line !== undefined) return [{ ...want, line: number }];
  const isCounted = ["largest", "largest-folders", "top-cpu", "top-memory", "git-log", "log-tail"].includes(want.kind);
  return isCounted ? [{ ...want, count: number }] : undefined;
}
