import type { BigIntStats } from "node:fs";
import { basename, dirname } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { Folder, type FileBytes } from "../files/files.ts";
import { IgnoreFiles } from "../files/gitignore.ts";
import { compileGlob } from "../files/glob.ts";
import { pathSchema, readPlan, displayPath } from "../files/paths.ts";
import { isWithin } from "../files/is-within.ts";
import { inodeKey, isWorkspaceFile, isHardLinked, findHardLinks, type HardLinks } from "../files/hard-links.ts";
import { lineFinder } from "../files/line-search.ts";
import { findCandidates } from "../files/ripgrep.ts";
import { SKIPPED_FOLDERS } from "../files/skipped-folders.ts";
import { omissionNote, FolderWalk } from "../files/walk.ts";
import { atAnyDepth } from "./find-files.ts";
import { SearchPage } from "./search-page.ts";
import { defineTool } from "./tool.ts";
import type { ToolExecution, ToolInput } from "./tool.ts";

function globSchema(description: string) {
  return { type: "string", minLength: 1, maxLength: HAND_LIMITS.globChars, description } as const;
}

const parameters = {
  type: "object",
  required: ["pattern"],
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.searchChars,
      description: "What to look for: this text as it is, or with regex a regular expression. It lies within one line.",
    },
    regex: {
      type: "boolean",
      description:
        "Take the pattern as a regular expression: . [a-z] \\d \\w \\s \\b ^ $ ( ) | * + ? {n,m}; no lookaround.",
    },
    path: pathSchema("The folder or file to look in; the workspace when left out."),
    ignore_case: { type: "boolean", description: "Treat capital and small letters alike." },
    glob: globSchema("Only files that match this, such as *.ts or {src,tests}/**."),
    exclude: globSchema("No files that match this."),
    ignored: { type: "boolean", description: "Also files that a .gitignore names." },
    context: {
      type: "integer",
      minimum: 0,
      maximum: HAND_LIMITS.contextLines,
      description: "Lines to show before and after each match; default: 0.",
    },
    show: {
      enum: ["lines", "files", "counts"],
      description:
        "The matching lines, only the names of their files, or the number of lines in each file; default: lines.",
    },
    limit: { type: "integer", minimum: 1, maximum: HAND_LIMITS.entries, description: "Lines or files at once." },
    offset: {
      type: "integer",
      minimum: 0,
      maximum: HAND_LIMITS.searchOffset,
      description: "Lines or files to leave out, as the previous answer says to go on.",
    },
  },
  additionalProperties: false,
} as const;

type SearchInput = ToolInput<typeof parameters>;

/** Finds text in files. */
export const searchTextTool = defineTool({
  name: "search_text",
  description:
    "Finds a text or a regular expression in the files below a folder and gives path:line:text for each matching line. " +
    "Binary files, .git, node_modules and what a .gitignore names are left out.",
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
    finderOf(input);
    compileGlob(input.glob ?? "*");
    compileGlob(input.exclude ?? "*");
    return await readPlan(input.path ?? ".", context);
  },
  async run(input, execution) {
    const { show = "lines", limit = HAND_LIMITS.entries, offset = 0, context = 0 } = input;
    const page = new SearchPage(finderOf(input), { show, limit, offset, context });
    const leftOut = await searchAll(page, input, execution);
    const data = { path: execution.plan.path, ...page.data(), truncated: leftOut.size > 0 || page.next !== undefined };
    const nothing = `[no line ${input.regex === true ? "matches" : "holds"} ${JSON.stringify(input.pattern)}]`;
    return { kind: "value", text: page.text(nothing) + omissionNote(leftOut), data };
  },
});

function finderOf({ pattern, regex = false, ignore_case = false }: SearchInput) {
  return lineFinder({ pattern, isRegex: regex, ignoreCase: ignore_case });
}

/** Searches every matching file; returns the reasons why files were left out. */
async function searchAll(
  page: SearchPage,
  input: SearchInput,
  execution: ToolExecution<FilePlan>,
): Promise<ReadonlySet<string>> {
  const { path } = execution.plan;
  const wanted = input.glob === undefined ? undefined : compileGlob(atAnyDepth(input.glob));
  const unwanted = input.exclude === undefined ? undefined : compileGlob(atAnyDepth(input.exclude));
  const ignores = input.ignored === true ? undefined : new IgnoreFiles();
  const query = { text: page.required, isIgnoredWanted: input.ignored === true };
  const candidates = await findCandidates(query, execution);
  const walk = new FolderWalk(
    execution,
    (below, name) =>
      candidates?.folders.has(below) !== false &&
      wanted?.reaches(below) !== false &&
      (!SKIPPED_FOLDERS.has(name) || wanted?.names(name) === true),
    ignores,
  );
  const isKept = keptFiles(walk, execution);
  const look = (at: string, read: () => FileBytes): boolean => {
    try {
      const { bytes, stat } = read();
      if (isHardLinked(stat) && isKept(stat, at)) walk.leftOut.add("what policy keeps from the model");
      else page.lookInto(bytes, () => displayPath(at, execution.context));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      walk.leftOut.add(error.message);
    }
    if (page.full !== undefined) walk.leftOut.add(page.full);
    return page.full === undefined && page.next === undefined;
  };
  await using parent = await Folder.open(dirname(path));
  if ((await parent.look(basename(path)))?.isFile()) {
    look(path, () => parent.readListed(basename(path)));
    return walk.leftOut;
  }
  await using folder = await Folder.open(path);
  await ignores?.readAbove(path, execution.context.workspace);
  await walk.visit(folder, (met) => {
    if (met.entry.type !== "file" || candidates?.files.has(met.path) === false) return true;
    if (wanted?.matches(met.path) === false || unwanted?.matches(met.path) === true) return true;
    return look(met.realPath, () => met.folder.readListed(met.entry.name));
  });
  return walk.leftOut;
}

/** Whether a hard-linked file must not be searched: it is Vidro's own, or not only the workspace's. */
function keptFiles(walk: FolderWalk, { context }: ToolExecution): (stat: BigIntStats, at: string) => boolean {
  const { workspace, state } = context;
  let [ours, inWorkspace]: [HardLinks?, HardLinks?] = [];
  return (stat, at) => {
    if ((ours ??= findHardLinks(state)).has(inodeKey(stat))) return true;
    if (walk.isApproved || !isWithin(workspace, at)) return false;
    return !isWorkspaceFile(stat, workspace, (inWorkspace ??= findHardLinks(workspace)));
  };
}
