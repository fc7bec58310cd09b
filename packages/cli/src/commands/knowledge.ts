import type { DocumentFolderRecord, DocumentRecord, KnowledgeRecord } from "@vidro/client";
import { Fault, TERMINAL_LIMITS } from "@vidro/core";
import { oneLine, SHORT_ID_CHARS } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print, printText, say, writeJson } from "../program/output.ts";
import { readTask } from "../program/read-task.ts";
import { paint } from "../view/symbols.ts";

const UNASKED = 20;
const TITLE_CHARS = 60;
const SNIPPET_CHARS = 76;
const DATE_CHARS = 10;
const STATUS_CHARS = "unverified".length;

type Flags = BrainFlags & { readonly json?: boolean };

interface PartFlags extends Flags {
  readonly status?: KnowledgeRecord["status"];
  readonly limit?: number;
}

/** Prints the entries with these words, the best first. */
export async function searchKnowledge(words: readonly string[], flags: PartFlags): Promise<number> {
  return withBrainApi(flags, async ({ knowledge }) => {
    const text = words.join(" ");
    const found = await knowledge.search(text, partOf(flags));
    const documents = flags.status === undefined ? await knowledge.searchDocuments(text, partOf(flags)) : [];
    if (documents.length > 0) {
      if (found.length > 0) showRows(found, flags, "");
      showDocuments(documents, flags);
      return EXIT.ok;
    }
    return showRows(
      found,
      flags,
      `Nothing is known about ${JSON.stringify(text)}. Add it: vidro kb add "<title>" "<text>"`,
    );
  });
}

/** Looks through the configured folders and prints what is indexed. */
export async function indexDocuments(flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ knowledge }) => showFolders(await knowledge.indexDocuments(), flags));
}

/** Prints what is indexed of each configured folder. */
export async function showDocumentFolders(flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ knowledge }) => showFolders(await knowledge.documentFolders(), flags));
}

/** Prints entries, newest first. */
export async function listKnowledge(flags: PartFlags): Promise<number> {
  return withBrainApi(flags, async ({ knowledge }) =>
    showRows(
      await knowledge.list(partOf(flags)),
      flags,
      'There is no such entry. Add one: vidro kb add "<title>" "<text>"',
    ),
  );
}

/** Prints one entry with its source. */
export async function showKnowledge(id: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ knowledge }) => {
    const entry = await findEntry(knowledge, id);
    if (flags.json === true) {
      writeJson({ ...entry });
      return EXIT.ok;
    }
    const { title, tags, source, trust, status, at } = entry;
    const from = source === null ? `a ${trust}` : `run ${source.run}, entry ${source.seq}`;
    say(
      paint("bold", title),
      paint("dim", `${entry.id} · ${status} · from ${from} · ${new Date(at).toLocaleString("sv")}`),
      ...(tags.length === 0 ? [] : [paint("dim", tags.map((tag) => `#${tag}`).join(" "))]),
    );
    printText(entry.snippet);
    return EXIT.ok;
  });
}

/** Adds an entry and prints its id. */
export async function addKnowledgeEntry(
  title: string,
  text: readonly string[],
  flags: Flags & { readonly tags?: readonly string[]; readonly verified?: boolean },
): Promise<number> {
  const snippet = await readTask(text);
  const tags = flags.tags?.filter((tag) => tag !== "");
  return withBrainApi(flags, async ({ knowledge }) => {
    const made = await knowledge.add({
      title,
      snippet,
      ...(tags === undefined ? {} : { tags }),
      ...(flags.verified === true ? { status: "verified" as const } : {}),
    });
    if (flags.json === true) writeJson({ ...made });
    else print(made.id);
    return EXIT.ok;
  });
}

/** Marks an entry as checked by the person at this command. */
export async function verifyKnowledge(id: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ knowledge }) => {
    const entry = await knowledge.verify((await findEntry(knowledge, id)).id);
    if (flags.json === true) writeJson({ ...entry });
    else say(`${entry.id} is verified: ${oneLine(entry.title, TITLE_CHARS)}`);
    return EXIT.ok;
  });
}

/** Removes an entry. */
export async function removeKnowledge(id: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ knowledge }) => {
    const entry = await findEntry(knowledge, id);
    await knowledge.remove(entry.id);
    if (flags.json === true) writeJson({ id: entry.id, removed: true });
    else say(`${entry.id} is removed: ${oneLine(entry.title, TITLE_CHARS)}`);
    return EXIT.ok;
  });
}

function partOf({ status, limit = UNASKED }: PartFlags) {
  return { limit, ...(status === undefined ? {} : { status }) };
}

function showDocuments(found: readonly DocumentRecord[], { json = false }: Flags): void {
  for (const document of found) {
    if (json) writeJson({ ...document });
    else {
      const { path, line, title, snippet } = document;
      print(`${path}:${line}  ${oneLine(title, TITLE_CHARS)}`, paint("dim", `  ${oneLine(snippet, SNIPPET_CHARS)}`));
    }
  }
}

function showFolders(folders: readonly DocumentFolderRecord[], { json = false }: Flags): number {
  if (folders.length === 0) say("No folder of documents is set: vidro config explain documents");
  for (const folder of folders) {
    if (json) writeJson({ ...folder });
    else print(...folderRows(folder));
  }
  return folders.some(({ fault }) => fault !== null) ? EXIT.failed : EXIT.ok;
}

function folderRows({ folder, documents, sections, at, leftOut, fault }: DocumentFolderRecord): readonly string[] {
  const when = at === null ? "never looked at" : `looked at ${new Date(at).toLocaleString("sv")}`;
  return [
    `${folder}  ${documents} documents, ${sections} sections, ${when}`,
    ...(fault === null ? [] : [paint("red", `  ${fault}`)]),
    ...leftOut.map((reason) => paint("dim", `  left out: ${reason}`)),
  ];
}

function showRows(found: readonly KnowledgeRecord[], { json = false }: Flags, nothing: string): number {
  if (json) for (const entry of found) writeJson({ ...entry });
  else if (found.length === 0) say(nothing);
  else {
    const heading = ["ID".padEnd(SHORT_ID_CHARS), "DATE".padEnd(DATE_CHARS), "STATUS".padEnd(STATUS_CHARS), "TITLE"];
    print(paint("dim", heading.join("  ")), ...found.flatMap(rowsOf));
  }
  return EXIT.ok;
}

function rowsOf({ id, title, snippet, status, at }: KnowledgeRecord): readonly string[] {
  const date = new Date(at).toLocaleDateString("sv");
  const row = [id.slice(-SHORT_ID_CHARS), date, status.padEnd(STATUS_CHARS), oneLine(title, TITLE_CHARS)].join("  ");
  const said = oneLine(snippet, SNIPPET_CHARS);
  return said === "" || said === title ? [row] : [row, paint("dim", `${" ".repeat(SHORT_ID_CHARS)}  ${said}`)];
}

/** The entry with this id, or with an id that ends so: ids begin alike, and differ at their ends. */
async function findEntry(knowledge: BrainApi["knowledge"], given: string): Promise<KnowledgeRecord> {
  if (given.startsWith("kb_")) return knowledge.find(given);
  if (given.length < TERMINAL_LIMITS.idEndChars)
    throw new Fault(
      "BAD_REQUEST",
      `${given} is too short: give at least the last ${TERMINAL_LIMITS.idEndChars} characters of the id.`,
    );
  const [found, ...others] = await knowledge.list({ ending: given, limit: 2 });
  if (found === undefined) throw new Fault("NOT_FOUND", `No entry has an id that ends with ${given}: vidro kb list`);
  if (others.length > 0) throw new Fault("BAD_REQUEST", `Several entries end with ${given}; give more of the id.`);
  return found;
}
