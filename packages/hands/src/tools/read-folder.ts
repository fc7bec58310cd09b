import type { BigIntStats } from "node:fs";
import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { Folder } from "../files/files.ts";
import type { FolderEntry } from "../files/files.ts";
import { pathSchema, readPlan } from "../files/paths.ts";
import { defineTool } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["dir_path"],
  properties: { dir_path: pathSchema("The folder: absolute, or relative to the workspace; `.` is the workspace.") },
  additionalProperties: false,
} as const;

/** Lists a folder. */
export const readFolderTool = defineTool({
  name: "read_folder",
  description: "Lists a folder, hidden entries too: mode, size, time of change (UTC) and name of each entry.",
  parameters,
  idempotent: true,
  effect: "read",
  plan: async (input, context): Promise<FilePlan> => await readPlan(input.dir_path, context),
  async run(_input, { plan }) {
    await using folder = await Folder.open(plan.path);
    const { entries, more } = await folder.entries(HAND_LIMITS.searchFiles);
    const rows = await Promise.all(entries.slice(0, HAND_LIMITS.entries).map((entry) => describe(folder, entry)));
    const total = more ? `more than ${entries.length}` : String(entries.length);
    const note =
      entries.length > rows.length ? [`[${rows.length} of ${total} entries; find_files finds the others]`] : [];
    const text = rows.length === 0 ? "[the folder is empty]" : [...rows.map(({ line }) => line), ...note].join("\n");
    const data = { path: plan.path, entries: rows.map(({ row }) => row), truncated: note.length > 0 };
    return { kind: "value", text, data };
  },
});

/** A type and not an interface, because only a type is assignable to Json. */
type EntryRow = {
  readonly name: string;
  readonly type: FolderEntry["type"];
  readonly size: number;
  readonly mtime: number;
  readonly target?: string;
};

async function describe(folder: Folder, { name, type }: FolderEntry): Promise<{ row: EntryRow; line: string }> {
  const stat = await folder.look(name);
  const target = type === "link" ? await folder.target(name).catch(() => undefined) : undefined;
  const row = { name, type, size: Number(stat?.size ?? 0), mtime: Number(stat?.mtimeMs ?? 0) };
  const time = new Date(row.mtime).toISOString().slice(0, 16).replace("T", " ");
  const suffix = type === "folder" ? "/" : target === undefined ? "" : ` -> ${target}`;
  const line = `${modeOf(type, stat)} ${String(row.size).padStart(9)} ${time} ${name}${suffix}`;
  return { row: target === undefined ? row : { ...row, target }, line };
}

const LETTERS = { file: "-", folder: "d", link: "l", other: "?" } as const;

function modeOf(type: FolderEntry["type"], stat: BigIntStats | undefined): string {
  const mode = Number(stat?.mode ?? 0);
  const bits = Array.from("rwxrwxrwx", (letter, index) => ((mode >> (8 - index)) & 1 ? letter : "-"));
  return LETTERS[type] + bits.join("");
}
