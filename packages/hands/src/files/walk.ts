import { join } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { Folder, FolderEntry } from "./files.ts";
import { reservedAreaOf } from "./paths.ts";
import { isWithin } from "./is-within.ts";
import type { ToolExecution } from "../tools/tool.ts";

/** Folders that are large, made by machines and rarely meant; a walk enters one only when it is asked for by name. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Something that a walk met; `folder` stays open until the next step. */
interface WalkEntry {
  readonly folder: Folder;
  readonly entry: FolderEntry;
  /** Relative to where the walk began. */
  readonly path: string;
}

/** A walk through all that is below a folder, bounded, by name, following no link; afterwards it says what it left out. */
export class FolderWalk {
  /** Why not all was seen, for people; empty when all was. */
  readonly leftOut = new Set<string>();
  readonly #execution: ToolExecution;
  readonly #enters: (path: string, name: string) => boolean;
  /** Whether a person let the walk begin where policy alone would not. */
  readonly isApproved: boolean;
  #left: number = HAND_LIMITS.searchFiles;

  constructor(execution: ToolExecution, enters: (path: string, name: string) => boolean) {
    this.#execution = execution;
    this.#enters = enters;
    this.isApproved = execution.context.judge(execution.plan).decision === "ask";
  }

  /** Everything below the folder but the folders themselves, depth first. */
  async *below(folder: Folder, at = ""): AsyncGenerator<WalkEntry> {
    const { entries, more } = await folder.entries(HAND_LIMITS.searchFiles);
    if (more) this.leftOut.add(`${folder.path} holds more than ${HAND_LIMITS.searchFiles} entries`);
    for (const entry of entries) {
      if (this.#execution.signal.aborted) throw new Fault("TOOL_FAILED", "The search was stopped before it ended.");
      if (this.#left === 0) {
        this.leftOut.add(`more than ${HAND_LIMITS.searchFiles} entries were met`);
        return;
      }
      this.#left -= 1;
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (!this.#mayRead(join(folder.path, entry.name))) this.leftOut.add("what policy keeps from the model");
      else if (entry.type !== "folder") yield { folder, entry, path };
      else if (this.#mayEnter(folder, entry.name, path)) yield* this.#inside(folder, entry.name, path);
    }
  }

  async *#inside(parent: Folder, name: string, path: string): AsyncGenerator<WalkEntry> {
    try {
      await using folder = await parent.folder(name);
      yield* this.below(folder, path);
    } catch (error) {
      // A folder that is shut, or gone by now, is no reason to lose what else was found.
      if (!(error instanceof Fault) || this.#execution.signal.aborted) throw error;
      this.leftOut.add(error.message);
    }
  }

  /** Leave to walk through a folder is no leave to read every file in it. */
  #mayRead(path: string): boolean {
    const { context } = this.#execution;
    const inWorkspace = isWithin(context.workspace, path);
    const { decision } = context.judge({ kind: "file", operation: "read", path, inWorkspace });
    return decision === "allow" || (decision === "ask" && this.isApproved);
  }

  #mayEnter(parent: Folder, name: string, path: string): boolean {
    if (reservedAreaOf(join(parent.path, name), this.#execution.context) !== undefined) return false;
    if (!this.#enters(path, name)) return false;
    if (path.split("/").length < HAND_LIMITS.folderDepth) return true;
    this.leftOut.add(`some folders are more than ${HAND_LIMITS.folderDepth} deep`);
    return false;
  }
}

/** The walk's omissions as a last line for the model; nothing when there are none. */
export function omissionNote(leftOut: ReadonlySet<string>): string {
  if (leftOut.size === 0) return "";
  const some = [...leftOut].slice(0, 5).join("; ");
  return `\n[not everything was seen: ${some}${leftOut.size > 5 ? `; and ${leftOut.size - 5} more` : ""}]`;
}
