import { spawn } from "node:child_process";
import { dirname, relative } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import { findProgram } from "../exec/fingerprints.ts";
import { withoutLeaks } from "../exec/leaked-descriptors.ts";
import type { ToolExecution } from "../tools/tool.ts";

/*
 * Where the host has ripgrep, it says which files hold a text, and only those are walked to and read. It is asked for
 * all files that could be wanted and more: what a search gives is still decided file by file.
 */

/** The files that may hold a text, and the folders on the way to them, relative to where the search begins. */
interface SearchCandidates {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

/** A text that every wanted file holds, and whether files that a .gitignore names are wanted. */
interface CandidateQuery {
  readonly text: string;
  readonly isIgnoredWanted: boolean;
}

/** Flags that make its answer a superset: no settings of others, all encodings as bytes, hidden files, and no guess at binaries. */
const FLAGS = ["--no-config", "--files-with-matches", "--null", "--fixed-strings", "--text", "--encoding=none"];
const SEEING = ["--hidden", "--no-messages", "--no-require-git", "--no-ignore-parent", "--no-ignore-global"];
const ONLY_GITIGNORE = ["--no-ignore-dot", "--no-ignore-exclude", "--glob=!.git"];

/** The candidates below the folder of a plan; undefined where the host has no ripgrep, or it cannot tell all of them. */
export async function findCandidates(
  { text, isIgnoredWanted }: CandidateQuery,
  { plan, context, signal }: ToolExecution & { readonly plan: { readonly path: string } },
): Promise<SearchCandidates | undefined> {
  const program = ripgrepOf(context.env["PATH"] ?? "");
  if (program === undefined || text === "") return undefined;
  const words = [...FLAGS, ...SEEING, ...ONLY_GITIGNORE, ...(isIgnoredWanted ? ["--no-ignore"] : [])];
  const said = await outputOf(program, [...words, "--regexp", text, "--", plan.path], { env: context.env, signal });
  if (said === undefined) return undefined;
  const files = new Set(said.split("\0").flatMap((path) => (path === "" ? [] : [relative(plan.path, path)])));
  const folders = new Set<string>();
  for (const file of files)
    for (let folder = dirname(file); folder !== "." && !folders.has(folder); folder = dirname(folder))
      folders.add(folder);
  return { files, folders };
}

function ripgrepOf(path: string): string | undefined {
  try {
    return findProgram("rg", "/", path);
  } catch {
    return undefined;
  }
}

/** What a program says; undefined when it fails, says too much or takes too long. */
function outputOf(
  program: string,
  args: readonly string[],
  { env, signal }: { readonly env: { readonly [name: string]: string }; readonly signal: AbortSignal },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const stdio = withoutLeaks(["ignore", "pipe", "ignore"]);
    const child = spawn(program, args, { cwd: "/", env, stdio, timeout: HAND_LIMITS.fetchMs, signal });
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > HAND_LIMITS.candidateBytes) child.kill("SIGKILL");
      else chunks.push(chunk);
    });
    child.once("error", () => resolve(undefined));
    // Exit code 1: no file holds the text. 2: some could not be read, which a walk would tell.
    child.once("close", (code) => {
      const said = Buffer.concat(chunks).toString("utf8");
      // A name that is not UTF-8 would not be found again.
      resolve((code === 0 || code === 1) && !said.includes("\ufffd") ? said : undefined);
    });
  });
}
