import type { Json, JsonObject } from "@vidro/core";
import { listIn, optionalNames, numberField, objectIn, optionalTextField, textField } from "./record-fields.ts";

/* Reads the JSON of knowledge and documents. */

/** A finding that a run or a person has kept. */
export interface KnowledgeRecord {
  readonly id: string;
  readonly owner: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly snippet: string;
  /** Whether a person has checked it. */
  readonly status: "unverified" | "verified";
  /** The entry of a run in which a model kept it; null when it was added from outside. */
  readonly source: { readonly run: string; readonly seq: number } | null;
  /** Who reported it. */
  readonly trust: "model" | "person" | "program";
  readonly at: number;
}

/** A section of a document that a search found. */
export interface DocumentRecord {
  readonly path: string;
  readonly line: number;
  readonly title: string;
  readonly snippet: string;
}

/** What is indexed of a folder of documents. */
export interface DocumentFolderRecord {
  readonly folder: string;
  readonly documents: number;
  readonly sections: number;
  /** End of the last look; null when there was none. */
  readonly at: number | null;
  /** Why documents were left out. */
  readonly leftOut: readonly string[];
  /** Why the folder could not be looked through. */
  readonly fault: string | null;
}

/** Entries of the knowledge in a list. */
export function knowledgeRecordsOf(json: Json): readonly KnowledgeRecord[] {
  return listIn(objectIn(json, "entries")["entries"], "entries").map(knowledgeRecordOf);
}

/** An entry of the knowledge. */
export function knowledgeRecordOf(json: Json): KnowledgeRecord {
  const entry = objectIn(json, "an entry");
  const source = entry["source"] ?? null;
  return {
    id: textField(entry, "id"),
    owner: textField(entry, "owner"),
    title: textField(entry, "title"),
    tags: optionalNames(entry["tags"]) ?? [],
    snippet: textField(entry, "snippet"),
    status: textField(entry, "status") as KnowledgeRecord["status"],
    source: source === null ? null : placeOf(objectIn(source, "a source")),
    trust: textField(entry, "trust") as KnowledgeRecord["trust"],
    at: numberField(entry, "at"),
  };
}

/** Sections of documents in a list. */
export function documentRecordsOf(json: Json): readonly DocumentRecord[] {
  return listIn(objectIn(json, "documents")["documents"], "documents").map((item) => {
    const found = objectIn(item, "a section");
    const [path, title, snippet] = [textField(found, "path"), textField(found, "title"), textField(found, "snippet")];
    return { path, line: numberField(found, "line"), title, snippet };
  });
}

/** Folders of documents in a list. */
export function documentFoldersOf(json: Json): readonly DocumentFolderRecord[] {
  return listIn(objectIn(json, "folders")["folders"], "folders").map((item) => {
    const folder = objectIn(item, "a folder");
    return {
      folder: textField(folder, "folder"),
      documents: numberField(folder, "documents"),
      sections: numberField(folder, "sections"),
      at: folder["at"] === null ? null : numberField(folder, "at"),
      leftOut: optionalNames(folder["leftOut"]) ?? [],
      fault: optionalTextField(folder, "fault"),
    };
  });
}

function placeOf(source: JsonObject): { readonly run: string; readonly seq: number } {
  return { run: textField(source, "run"), seq: numberField(source, "seq") };
}
