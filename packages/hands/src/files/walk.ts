import { setImmediate } from "node:timers/promises";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { Folder, FolderEntry } from "./files.ts";
import type { IgnoreFiles } from "./gitignore.ts";
import { reservedAreaOf } from "./paths.ts";
import { isWithin } from "./is-within.ts";
import type { ToolExecution } from "../tools/tool.ts";

/** An entry that a walk found; `folder` is open while it is visited. */
interface WalkEntry {
  readonly folder: Folder;
  readonly entry: FolderEntry;
  readonly realPath: string;
  /** Relative to where the walk began. */
  readonly path: string;
}

/** A bounded walk through everything below a folder, sorted by name, without following links. */
export class FolderWalk {
  /** Reasons why entries were left out, for people; empty if none were. */
  readonly leftOut = new Set<string>();
  readonly #execution: ToolExecution;
  readonly #enters: (path: string, name: string) => boolean;
  /** Whether a person approved the walk because policy alone did not allow it. */
  readonly isApproved: boolean;
  readonly #ignores: IgnoreFiles | undefined;
  #left: number = HAND_LIMITS.searchFiles;
  #turnedAt = performance.now();

  constructor(execution: ToolExecution, enters: (path: string, name: string) => boolean, ignores?: IgnoreFiles) {
    this.#execution = execution;
    this.#enters = enters;
    this.#ignores = ignores;
    this.isApproved = execution.context.judge(execution.plan).decision === "ask";
  }

  /** Visits all entries below the folder except folders, depth first, until a visit returns false. */
  async visit(folder: Folder, visit: (met: WalkEntry) => boolean, at = ""): Promise<boolean> {
    const { entries, more } = await folder.entries(HAND_LIMITS.searchFiles);
    if (more) this.leftOut.add(`${folder.path} holds more than ${HAND_LIMITS.searchFiles} entries`);
    await this.#ignores?.enter(folder, entries);
    for (const entry of entries) {
      if (performance.now() - this.#turnedAt > HAND_LIMITS.walkMs) await this.#turn();
      if (this.#execution.signal.aborted) throw new Fault("TOOL_FAILED", "The search was stopped before it ended.");
      if (this.#left === 0) {
        this.leftOut.add(`more than ${HAND_LIMITS.searchFiles} entries were met`);
        return false;
      }
      this.#left -= 1;
      const realPath = folder.path === "/" ? `/${entry.name}` : `${folder.path}/${entry.name}`;
      if (this.#ignores?.isIgnored(realPath, entry.type === "folder") === true) continue;
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (!this.#mayRead(realPath)) this.leftOut.add("what policy keeps from the model");
      else if (entry.type !== "folder") {
        if (!visit({ folder, entry, realPath, path })) return false;
      } else if (this.#mayEnter(realPath, entry.name, path)) {
        if (!(await this.#inside(folder, entry.name, { visit, path }))) return false;
      }
    }
    return true;
  }

  async #inside(
    parent: Folder,
    name: string,
    { visit, path }: { readonly visit: (met: WalkEntry) => boolean; readonly path: string },
  ): Promise<boolean> {
    try {
      await using folder = await parent.folder(name);
      return await this.visit(folder, visit, path);
    } catch (error) {
      // An unreadable or removed folder does not end the walk.
      if (!(error instanceof Fault) || this.#execution.signal.aborted) throw error;
      this.leftOut.add(error.message);
      return true;
    }
  }

  /** Lets other work of this process go on. */
  async #turn(): Promise<void> {
    await setImmediate();
    this.#turnedAt = performance.now();
  }

  /** Each file is judged by itself: permission to walk a folder does not include every file in it. */
  #mayRead(path: string): boolean {
    const { context } = this.#execution;
    const inWorkspace = isWithin(context.workspace, path);
    const { decision } = context.judge({ kind: "file", operation: "read", path, inWorkspace });
    return decision === "allow" || (decision === "ask" && this.isApproved);
  }

  #mayEnter(realPath: string, name: string, path: string): boolean {
    if (reservedAreaOf(realPath, this.#execution.context) !== undefined) return false;
    if (!this.#enters(path, name)) return false;
    if (path.split("/").length < HAND_LIMITS.folderDepth) return true;
    this.leftOut.add(`some folders are more than ${HAND_LIMITS.folderDepth} deep`);
    return false;
  }
}

/** The last line for the model about what was left out; empty if nothing was. */
export function omissionNote(leftOut: ReadonlySet<string>): string {
  if (leftOut.size === 0) return "";
  const some = [...leftOut].slice(0, 5).join("; ");
  return `\n[not everything was seen: ${some}${leftOut.size > 5 ? `; and ${leftOut.size - 5} more` : ""}]`;
}
