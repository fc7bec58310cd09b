import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, HAND_LIMITS, isObject } from "@vidro/core";
import type { ToolExecution } from "../tools/tool.ts";

/*
 * What files held before an action changed them, kept in the hand's own state, so that an action or a whole run can be
 * undone. It is on disk before the first file is changed.
 */

/** A file before and after an action; a hash is absent where there was no file. */
export interface FormerFile {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
  /** Whether the content before is kept; one that could not be read is not. */
  readonly kept: boolean;
}

/** The files that one action changed. */
interface FormerFiles {
  readonly action: string;
  readonly run: string;
  readonly by?: string;
  readonly at: number;
  readonly files: readonly FormerFile[];
}

/** A file to keep: what it held, if that is known, and what it is about to hold. */
interface KeptFile extends Omit<FormerFile, "kept"> {
  readonly content: Buffer | undefined;
}

const LIST = "files.json";

/** Keeps what files hold before an action changes them; one that begins again keeps what was there first. */
export async function keepFormerFiles(files: readonly KeptFile[], execution: ToolExecution): Promise<void> {
  const { action, run, by, context } = execution;
  const folder = folderOf(context.state, action);
  if ((await readList(folder)) !== undefined) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { content, before } of files)
    if (content !== undefined && before !== undefined) await writeDurably(join(folder, before), content);
  const list: FormerFiles = {
    action,
    run,
    ...(by === undefined ? {} : { by }),
    at: Date.now(),
    files: files.map(({ content, ...file }) => ({ ...file, kept: content !== undefined || file.before === undefined })),
  };
  await writeDurably(join(folder, LIST), Buffer.from(JSON.stringify(list)));
  await pruneFormerFiles(context.state, folder);
}

/** Forgets what an action would have changed: nothing was changed. */
export async function forgetFormerFiles({ action, context }: ToolExecution): Promise<void> {
  await rm(folderOf(context.state, action), { recursive: true, force: true });
}

/** The files that an action changed; throws NOT_FOUND if nothing is kept of it. */
export async function formerFilesOf(state: string, action: string): Promise<FormerFiles> {
  const list = await readList(folderOf(state, action));
  if (list !== undefined) return list;
  throw new Fault(
    "NOT_FOUND",
    `No changes of the action ${action} are kept here: it changed no file, or too long ago.`,
  );
}

/** The changes of a run, the last first; throws NOT_FOUND if nothing is kept of it. */
export async function formerFilesOfRun(state: string, run: string): Promise<readonly FormerFiles[]> {
  const lists = await Promise.all((await listFolders(state)).map((folder) => readList(folder)));
  const own = lists.filter((list) => list !== undefined).filter((list) => list.run === run);
  if (own.length > 0) return own.sort((one, other) => other.at - one.at || (one.action < other.action ? 1 : -1));
  throw new Fault("NOT_FOUND", `No changes of the run ${run} are kept here: it changed no file, or too long ago.`);
}

/** What a file held before an action; undefined if it was not there. */
export async function readFormerContent(state: string, action: string, file: FormerFile): Promise<Buffer | undefined> {
  if (file.before === undefined) return undefined;
  const content = await readFile(join(folderOf(state, action), file.before)).catch(() => undefined);
  if (content !== undefined && createHash("sha256").update(content).digest("hex") === file.before) return content;
  throw new Fault("NOT_FOUND", `What ${file.path} held before is not kept any more; nothing was changed.`);
}

function folderOf(state: string, action: string): string {
  // Ids come from brains, so they name no folder themselves.
  return join(state, "undo", createHash("sha256").update(action).digest("hex").slice(0, 40));
}

async function listFolders(state: string): Promise<readonly string[]> {
  const root = join(state, "undo");
  return (await readdir(root).catch(() => [])).map((name) => join(root, name));
}

async function readList(folder: string): Promise<FormerFiles | undefined> {
  const text = await readFile(join(folder, LIST), "utf8").catch(() => undefined);
  const list: unknown = text === undefined ? undefined : JSON.parse(text);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it, atomically.
  return isObject(list) ? (list as unknown as FormerFiles) : undefined;
}

async function writeDurably(path: string, content: Buffer): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

/** Removes what is too old, and the oldest beyond the size bound, except the one that was just written. */
async function pruneFormerFiles(state: string, current: string): Promise<void> {
  const kept = await Promise.all((await listFolders(state)).map(measureFolder));
  let bytes = 0;
  for (const { folder, size, at } of kept.sort((one, other) => other.at - one.at)) {
    bytes += size;
    const isKept = bytes <= HAND_LIMITS.undoBytes && Date.now() - at <= HAND_LIMITS.undoMs;
    if (!isKept && folder !== current) await rm(folder, { recursive: true, force: true });
  }
}

async function measureFolder(folder: string): Promise<{ folder: string; size: number; at: number }> {
  try {
    const stats = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))));
    return { folder, size: stats.reduce((sum, { size }) => sum + size, 0), at: (await stat(folder)).mtimeMs };
  } catch {
    // Another action has just removed it.
    return { folder, size: 0, at: 0 };
  }
}
