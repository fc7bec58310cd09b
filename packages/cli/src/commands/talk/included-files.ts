import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, relative, resolve, sep } from "node:path";
import { inflateSync } from "node:zlib";
import { asFault, attachedText, FILE_LIMITS, fitPdfs, HAND_LIMITS, TERMINAL_LIMITS } from "@vidro/core";
import { imageFormat, imageMisfit, isPdf, PDF_TYPE, pdfMisfit } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { byteWords } from "@vidro/core/text";
import { requireFolder } from "../../program/require-folder.ts";
import type { Completions } from "../../view/keyboard.ts";
import { openPolicyAt, policyFile } from "../policy/policy-place.ts";
import type { TalkWords } from "./talk-words.ts";

/* Files that a person puts into a task by @name. They are read under the policy of this host, as a tool would be. */

/** A name behind @, at the start of a word; a blank in it is written with a backslash. */
const MENTION = /(?<=^|\s)@((?:\\ |\S)+)/g;
const BEGUN = /(?:^|\s)@((?:\\ |\S)*)$/;

/** A task with the files that it names, and a note for each name. */
interface FilledTask {
  readonly task: string;
  /** Images and PDFs among them. */
  readonly files: readonly FilePart[];
  readonly notes: readonly string[];
}

/** Puts the files that a task names behind it; what cannot be read or is not allowed stays a word. */
export async function includeFiles(task: string, words: TalkWords): Promise<FilledTask> {
  const names = [...new Set([...task.matchAll(MENTION)].map(([, name = ""]) => name.replaceAll("\\ ", " ")))];
  const [texts, notes]: [string[], string[]] = [[], []];
  const files: FilePart[] = [];
  let included = 0;
  for (const name of names) {
    const path = resolve(requireFolder("."), name.replace(/[,.;:!?]+$/, ""));
    const shown = relative(requireFolder("."), path) || path;
    try {
      if ((included += 1) > TERMINAL_LIMITS.includedFiles)
        throw new Error(words.tooMany(TERMINAL_LIMITS.includedFiles));
      const { text, file } = await readAllowed(path, words);
      if (text === undefined) notes.push(words.included(shown, file.mediaType));
      else notes.push(words.included(shown, byteWords(Buffer.byteLength(text))));
      const isPdfFile = file?.mediaType === PDF_TYPE;
      if (file !== undefined) files.push({ ...file, name: isPdfFile ? shown : basename(path) });
      if (text !== undefined) texts.push(isPdfFile ? attachedText(shown, text) : `--- ${shown} ---\n${text}`);
    } catch (thrown) {
      // A word such as @ada names no file at all.
      if ((thrown as NodeJS.ErrnoException).code !== "ENOENT")
        notes.push(words.notIncluded(shown, asFault(thrown).message));
    }
  }
  return { task: [task, ...texts].join("\n\n"), files: fitPdfs(files), notes };
}

/** What a task gets of a file: its text, the image that it is, or a PDF as both. */
type IncludedFile =
  | { readonly text: string; readonly file?: FilePart }
  | { readonly text?: undefined; readonly file: FilePart };

async function readAllowed(path: string, words: TalkWords): Promise<IncludedFile> {
  const real = await realpath(path);
  const workspace = await realpath(requireFolder("."));
  const policy = await openPolicyAt(policyFile(), true);
  const inWorkspace = real.startsWith(`${workspace}${sep}`);
  const { decision, reason } = policy.judge({ kind: "file", operation: "read", path: real, inWorkspace });
  if (decision !== "allow") throw new Error(reason);
  // Without O_NONBLOCK, opening a fifo waits for its other end.
  await using file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await file.stat();
  if (!stat.isFile()) throw new Error(words.noText);
  const bytes = Buffer.alloc(FILE_LIMITS.imageBytes + 1);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  const image = imageFormat(bytes.subarray(0, bytesRead));
  const misfit = image === undefined ? undefined : imageMisfit(image, stat.size);
  if (misfit !== undefined) throw new Error(misfit);
  if (image !== undefined)
    return { file: { mediaType: image.mediaType, data: bytes.subarray(0, bytesRead).toString("base64") } };
  if (isPdf(bytes.subarray(0, bytesRead))) return await readPdf(file, stat.size, words);
  if (bytesRead > TERMINAL_LIMITS.includedBytes)
    throw new Error(words.tooLarge(byteWords(TERMINAL_LIMITS.includedBytes)));
  const text = bytes.subarray(0, bytesRead).toString("utf8");
  if (text.includes("\u0000") || text.includes("\ufffd")) throw new Error(words.noText);
  return { text };
}

/** A PDF: its text, and the file for models that take PDFs, unless it is too large for one. */
async function readPdf(file: FileHandle, size: number, words: TalkWords): Promise<IncludedFile> {
  if (size > HAND_LIMITS.fileBytes) throw new Error(words.tooLarge(byteWords(HAND_LIMITS.fileBytes)));
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await file.read(bytes, 0, size, 0);
  const { pdfText } = await import("@vidro/core/pdf");
  const read = pdfText(bytes.subarray(0, bytesRead), inflateSync);
  const isShown = read.pages !== undefined && pdfMisfit(read.pages, bytesRead) === undefined;
  if ("misfit" in read && !isShown) throw new Error(read.misfit);
  const text = "misfit" in read ? `[The text of this PDF cannot be had: ${read.misfit}.]` : read.text;
  if (Buffer.byteLength(text) > TERMINAL_LIMITS.includedBytes)
    throw new Error(words.tooLarge(byteWords(TERMINAL_LIMITS.includedBytes)));
  const data = isShown ? bytes.subarray(0, bytesRead).toString("base64") : "";
  return { text, ...(isShown ? { file: { mediaType: PDF_TYPE, data } } : {}) };
}

/** The names of files that may stand behind the @ before the cursor. */
export async function completeFile(before: string): Promise<Completions | undefined> {
  const [, begun] = BEGUN.exec(before) ?? [];
  if (begun === undefined) return undefined;
  const typed = begun.replaceAll("\\ ", " ");
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const start = typed.slice(folder.length);
  const entries = await readdir(resolve(requireFolder("."), folder), { withFileTypes: true }).catch(() => []);
  const words = entries
    .filter(({ name }) => name.startsWith(start) && (start !== "" || !name.startsWith(".")))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`.replaceAll(" ", "\\ "))
    .sort();
  return { from: before.length - begun.length, words };
}
