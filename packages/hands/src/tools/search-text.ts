import type { BigIntStats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { Folder, isBinary } from "../files/files.ts";
import { compileGlob } from "../files/glob.ts";
import { pathSchema, readPlan, displayPath } from "../files/paths.ts";
import { isWithin } from "../files/is-within.ts";
import { inodeKey, isWorkspaceFile, isHardLinked, findHardLinks, type HardLinks } from "../files/hard-links.ts";
import { SKIPPED_FOLDERS } from "../files/skipped-folders.ts";
import { omissionNote, FolderWalk } from "../files/walk.ts";
import { atAnyDepth } from "./find-files.ts";
import { defineTool } from "./tool.ts";
import type { ToolExecution } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["pattern"],
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.lineChars,
      description: "The text to look for, as it is: this is not a regular expression. It lies within one line.",
    },
    path: pathSchema("The folder or file to look in; the workspace when left out."),
    ignore_case: { type: "boolean", description: "Treat capital and small letters alike." },
    glob: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.globChars,
      description: "Only files that match this, such as *.ts.",
    },
  },
  additionalProperties: false,
} as const;

/** Finds text in files. */
export const searchTextTool = defineTool({
  name: "search_text",
  description:
    "Finds a plain text in the files below a folder and gives path:line:text for each line that holds it. " +
    "Binary files, .git and node_modules are left out.",
  parameters,
  idempotent: true,
  effect: "read",
  async plan(input, context): Promise<FilePlan> {
    if (input.pattern.includes("\n")) {
      throw new Fault(
        "BAD_ARGUMENTS",
        "The pattern holds a line end, and a match lies within one line; search for one line of it.",
      );
    }
    compileGlob(input.glob ?? "*");
    return await readPlan(input.path ?? ".", context);
  },
  async run(input, execution) {
    const search = new Search(input.pattern, input.ignore_case === true);
    const leftOut = await searchAll(search, compileGlob(atAnyDepth(input.glob ?? "*")), execution);
    const text = search.matches.map(({ path, line, text: found }) => `${path}:${line}:${found}`).join("\n");
    const data = { path: execution.plan.path, matches: search.matches, truncated: leftOut.size > 0 };
    const nothing = `[no line holds ${JSON.stringify(input.pattern)}]`;
    return { kind: "value", text: (text || nothing) + omissionNote(leftOut), data };
  },
});

/** Searches every matching file; returns the reasons why files were left out. */
async function searchAll(
  search: Search,
  wanted: ReturnType<typeof compileGlob>,
  execution: ToolExecution<FilePlan>,
): Promise<ReadonlySet<string>> {
  const { path } = execution.plan;
  const walk = new FolderWalk(
    execution,
    (below, name) => wanted.reaches(below) && (!SKIPPED_FOLDERS.has(name) || wanted.names(name)),
  );
  const { workspace, state } = execution.context;
  let [ours, inWorkspace]: [HardLinks?, HardLinks?] = [];
  /** Whether a hard-linked file must not be searched: it is Vidro's own, or not only the workspace's. */
  const isKept = (stat: BigIntStats, at: string): boolean => {
    if ((ours ??= findHardLinks(state)).has(inodeKey(stat))) return true;
    if (walk.isApproved || !isWithin(workspace, at)) return false;
    return !isWorkspaceFile(stat, workspace, (inWorkspace ??= findHardLinks(workspace)));
  };
  const look = async (folder: Folder, name: string) => {
    try {
      const { bytes, stat } = await folder.read(name);
      const at = join(folder.path, name);
      if (isHardLinked(stat) && isKept(stat, at)) walk.leftOut.add("what policy keeps from the model");
      else search.lookInto(bytes, displayPath(at, execution.context));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      walk.leftOut.add(error.message);
    }
    if (search.full !== undefined) walk.leftOut.add(search.full);
    return search.full === undefined;
  };
  await using parent = await Folder.open(dirname(path));
  if ((await parent.look(basename(path)))?.isFile()) {
    await look(parent, basename(path));
    return walk.leftOut;
  }
  await using folder = await Folder.open(path);
  for await (const met of walk.below(folder)) {
    if (met.entry.type !== "file" || !wanted.matches(met.path)) continue;
    if (!(await look(met.folder, met.entry.name))) break;
  }
  return walk.leftOut;
}

/** Collects matches up to the bounds. */
class Search {
  readonly matches: { path: string; line: number; text: string }[] = [];
  /** Why the search stopped early. */
  full: string | undefined;
  readonly #wanted: string;
  readonly #bytes: Buffer;
  readonly #ignoreCase: boolean;
  #seenBytes = 0;
  #foundBytes = 0;

  constructor(pattern: string, ignoreCase: boolean) {
    this.#wanted = ignoreCase ? pattern.toLowerCase() : pattern;
    this.#bytes = Buffer.from(pattern);
    this.#ignoreCase = ignoreCase;
  }

  lookInto(bytes: Buffer, path: string): void {
    this.#seenBytes += bytes.length;
    if (this.#seenBytes > HAND_LIMITS.searchBytes)
      this.full = `more than ${HAND_LIMITS.searchBytes} bytes were looked through`;
    // Most files do not contain the text, and comparing bytes is much faster than decoding.
    if (isBinary(bytes) || (!this.#ignoreCase && !bytes.includes(this.#bytes))) return;
    for (const [index, line] of bytes.toString().split("\n").entries()) {
      const at = (this.#ignoreCase ? line.toLowerCase() : line).indexOf(this.#wanted);
      if (at === -1) continue;
      const match = { path, line: index + 1, text: excerpt(line, at) };
      this.#foundBytes += Buffer.byteLength(match.path) + Buffer.byteLength(match.text);
      if (this.matches.length === HAND_LIMITS.entries || this.#foundBytes > HAND_LIMITS.readBytes) {
        this.full = `there are more matches than fit here (${this.matches.length} are shown), so make the search narrower`;
        return;
      }
      this.matches.push(match);
    }
  }
}

/** The part of a line around the match. */
function excerpt(line: string, at: number): string {
  const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (whole.length <= HAND_LIMITS.lineChars) return whole;
  const from = Math.max(0, Math.min(at - HAND_LIMITS.lineChars / 4, whole.length - HAND_LIMITS.lineChars));
  const to = from + HAND_LIMITS.lineChars;
  return `${from > 0 ? "…" : ""}${whole.slice(from, to)}${to < whole.length ? "…" : ""}`;
}
