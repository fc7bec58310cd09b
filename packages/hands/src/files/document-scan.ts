import { realpath } from "node:fs/promises";
import { extname, join } from "node:path";
import { DOCUMENT_LIMITS, Fault } from "@vidro/core";
import type { FoundDocument } from "@vidro/core";
import { findOwnFolders } from "../policy/own-state.ts";
import { sectionsOf } from "./document-sections.ts";
import { Folder, isBinary } from "./files.ts";
import type { FolderEntry } from "./files.ts";
import { isWithin } from "./is-within.ts";
import { SKIPPED_FOLDERS } from "./skipped-folders.ts";

/** Endings of documents; code has `search_text`. */
const DOCUMENTS: ReadonlySet<string> = new Set([
  ".md",
  ".markdown",
  ".txt",
  ".text",
  ".rst",
  ".adoc",
  ".asciidoc",
  ".org",
  ".html",
  ".htm",
]);

/** How documents are looked for. */
interface ScanOptions {
  /** The identity of a document that was read before. */
  readonly known: (path: string) => string | undefined;
  /** The brain's own folder. */
  readonly home: string;
  readonly signal: AbortSignal;
}

/**
 * The documents below a folder, sorted by name; those that have not changed are only named. Links are not followed, and
 * hidden files, generated folders and Vidro's own state are left out. BAD_REQUEST when the folder cannot be opened.
 */
export async function* scanDocuments(folder: string, options: ScanOptions): AsyncGenerator<FoundDocument> {
  const walk = { ...options, closed: findOwnFolders(options.home), left: DOCUMENT_LIMITS.files as number };
  const root = await realpath(folder).catch((cause: unknown) => {
    throw new Fault("BAD_REQUEST", `The folder of documents ${folder} cannot be opened; see the setting documents.`, {
      cause,
    });
  });
  await using opened = await Folder.open(root);
  yield* below(opened, walk, 0);
}

interface Walk extends ScanOptions {
  readonly closed: readonly string[];
  left: number;
}

async function* below(folder: Folder, walk: Walk, depth: number): AsyncGenerator<FoundDocument> {
  if (walk.closed.some((closed) => isWithin(closed, folder.path))) return;
  const { entries, more } = await folder.entries(DOCUMENT_LIMITS.entries);
  if (more) yield { leftOut: `${folder.path} holds more than ${DOCUMENT_LIMITS.entries} entries` };
  for (const entry of entries) {
    if (walk.signal.aborted) throw new Fault("TOOL_FAILED", "The look at the documents was stopped before it ended.");
    if (entry.name.startsWith(".") || SKIPPED_FOLDERS.has(entry.name)) continue;
    if (entry.type === "folder") yield* inside(folder, entry, { walk, depth });
    else if (entry.type === "file" && DOCUMENTS.has(extname(entry.name).toLowerCase())) {
      if ((walk.left -= 1) < 0) {
        yield { leftOut: `more than ${DOCUMENT_LIMITS.files} documents were met` };
        return;
      }
      yield await documentIn(folder, entry.name, walk);
    }
  }
}

async function* inside(
  parent: Folder,
  { name }: FolderEntry,
  { walk, depth }: { readonly walk: Walk; readonly depth: number },
): AsyncGenerator<FoundDocument> {
  if (walk.left < 0) return;
  if (depth === DOCUMENT_LIMITS.depth) {
    yield { leftOut: `${join(parent.path, name)} is too deep` };
    return;
  }
  try {
    await using folder = await parent.folder(name);
    yield* below(folder, walk, depth + 1);
  } catch (thrown) {
    // A folder that is unreadable or was removed does not end the walk.
    if (!(thrown instanceof Fault) || walk.signal.aborted) throw thrown;
    yield { leftOut: thrown.message };
  }
}

async function documentIn(folder: Folder, name: string, { known }: Walk): Promise<FoundDocument> {
  const path = join(folder.path, name);
  try {
    const stat = await folder.look(name);
    if (stat === undefined) return { leftOut: `${path} was removed meanwhile` };
    if (stat.size > DOCUMENT_LIMITS.fileBytes)
      return { leftOut: `${path} is larger than ${DOCUMENT_LIMITS.fileBytes} bytes` };
    const identity = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
    if (known(path) === identity) return { path, identity, sections: undefined };
    const { bytes } = await folder.read(name);
    if (isBinary(bytes)) return { leftOut: `${path} is no text` };
    return { path, identity, sections: sectionsOf(new TextDecoder().decode(bytes), path) };
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return { leftOut: thrown.message };
  }
}
