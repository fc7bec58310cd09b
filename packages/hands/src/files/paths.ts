import type { BigIntStats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { canonicalJson, Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan, Json } from "@vidro/core";
import { errnoCode, asFileFault, sha256 } from "./files.ts";
import type { HandContext } from "../tools/tool.ts";
import { isWorkspacePath, isWorkspaceFile, findLinkIn } from "./hard-links.ts";
import { isWithin } from "./is-within.ts";

/** Folders whose files are interfaces to the kernel or devices. */
const KERNEL = ["/proc", "/sys", "/dev"];

/** The schema of an input that is a path. */
export function pathSchema(description: string) {
  return { type: "string", minLength: 1, maxLength: HAND_LIMITS.pathChars, description } as const;
}

/** A path as a person would write it: relative in the workspace, absolute elsewhere. */
export function displayPath(path: string, context: HandContext): string {
  return isWithin(context.workspace, path) ? relative(context.workspace, path) || "." : path;
}

/** The reserved area that contains a real path; undefined if file tools may use it. */
export function reservedAreaOf(path: string, context: HandContext): string | undefined {
  if (context.reserved().some((folder) => isWithin(folder, path))) return "Vidro's own state";
  return KERNEL.find((folder) => isWithin(folder, path));
}

/** The plan to read a file or a folder. */
export async function readPlan(asked: string, context: HandContext): Promise<FilePlan> {
  const path = await realPath(asked, context);
  return { kind: "file", operation: "read", path, inWorkspace: isOfWorkspace(path, context) };
}

/** Whether a real path lies in the workspace and is no hard link to a file outside of it. */
function isOfWorkspace(path: string, { workspace }: HandContext): boolean {
  return isWithin(workspace, path) && isWorkspacePath(path, workspace);
}

/** Throws PLAN_CHANGED if the plan says that a file is the workspace's, but the opened file is not. */
export function refuseForeign(
  stat: BigIntStats | undefined,
  { path, inWorkspace }: FilePlan,
  { workspace }: HandContext,
): void {
  if (!inWorkspace || stat === undefined || isWorkspaceFile(stat, workspace)) return;
  throw new Fault("PLAN_CHANGED", `${path} became a file that is not only the workspace's after the plan was made.`);
}

/** The plan to write a file; its digest covers `input`, which determines the new content. */
export async function writePlan(asked: string, input: Json, context: HandContext): Promise<FilePlan> {
  const path = await realPath(asked, context);
  const digest = sha256(canonicalJson(input));
  return { kind: "file", operation: "write", path, inWorkspace: isOfWorkspace(path, context), digest };
}

/**
 * Resolves every symlink of a path as far as it exists; throws where no file tool may go. Nothing is opened here: the
 * tool walks exactly this path later and follows no link, so a swap in between fails.
 */
async function realPath(asked: string, context: HandContext): Promise<string> {
  refuseMalformed(asked);
  let pending = namesOf(isAbsolute(asked) ? asked : join(context.workspace, asked));
  let real: string[] = [];
  let links = 0;
  while (true) {
    const [name, ...rest] = pending;
    if (name === undefined) return refuseStateLink(`/${real.join("/")}`, asked, context);
    pending = rest;
    // Only a link target can contain `..`; the path before it is already resolved, so its parent is the real parent.
    if (name === "..") {
      real.pop();
      continue;
    }
    const here = `/${[...real, name].join("/")}`;
    const owner = reservedAreaOf(here, context);
    if (owner !== undefined) throw new Fault("POLICY_DENIED", `${asked} leads into ${owner}, where no file tool goes.`);
    const target = await linkTarget(here);
    if (target === undefined) {
      real.push(name);
      continue;
    }
    links += 1;
    if (links > HAND_LIMITS.links)
      throw new Fault("TOOL_FAILED", `${asked} leads through more than ${HAND_LIMITS.links} symlinks.`);
    if (isAbsolute(target)) real = [];
    pending = [...namesOf(target), ...rest];
  }
}

/** Returns the path; throws POLICY_DENIED if it is a hard link to a file of Vidro's own state. */
function refuseStateLink(path: string, asked: string, context: HandContext): string {
  if (context.reserved().every((folder) => findLinkIn(path, folder) === undefined)) return path;
  throw new Fault("POLICY_DENIED", `${asked} is a file of Vidro's own state, where no file tool goes.`);
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function refuseMalformed(asked: string): void {
  if (asked === "") throw new Fault("BAD_ARGUMENTS", "The path is empty; name a file or a folder.");
  if (asked.includes("\0"))
    throw new Fault("BAD_ARGUMENTS", "The path holds a NUL character; no file has such a name.");
  if (asked.length > HAND_LIMITS.pathChars) {
    throw new Fault("BAD_ARGUMENTS", `The path is longer than ${HAND_LIMITS.pathChars} characters.`);
  }
  if (asked.split("/").includes("..")) {
    throw new Fault("BAD_ARGUMENTS", `${asked} holds "..", which is refused; give the absolute path instead.`);
  }
}

/** Errors of a path component that cannot be read; it is kept as written, because opening it would fail too. */
const UNSEEN = new Set(["ENOENT", "ENOTDIR", "EACCES"]);

/** The target of a symlink; undefined for anything else. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if (UNSEEN.has(errnoCode(error))) return undefined;
    throw asFileFault(error, path);
  }
}
