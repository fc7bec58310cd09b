import type { BigIntStats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { Folder, isBinary } from "../files/files.ts";
import { glob } from "../files/glob.ts";
import { pathField, readPlan, shown } from "../files/paths.ts";
import { within } from "../files/is-within.ts";
import { identity, isOwnFile, isShared, twinsIn, type Twins } from "../files/hard-links.ts";
import { omissions, SELDOM_MEANT, Walk } from "../files/walk.ts";
import { anyDepth } from "./find-files.ts";
import { tool } from "./tool.ts";
import type { Work } from "./tool.ts";

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
    path: pathField("The folder or file to look in; the workspace when left out."),
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
export const searchText = tool({
  name: "search_text",
  description:
    "Finds a plain text in the files below a folder and gives path:line:text for each line that holds it. " +
    "Binary files, .git and node_modules are left out.",
  parameters,
  idempotent: true,
  effect: "read",
  async plan(input, bench): Promise<FilePlan> {
    if (input.pattern.includes("\n")) {
      throw new Fault(
        "BAD_ARGUMENTS",
        "The pattern holds a line end, and a match lies within one line; search for one line of it.",
      );
    }
    glob(input.glob ?? "*");
    return await readPlan(input.path ?? ".", bench);
  },
  async run(input, work) {
    const search = new Search(input.pattern, input.ignore_case === true);
    const leftOut = await searchAll(search, glob(anyDepth(input.glob ?? "*")), work);
    const text = search.matches.map(({ path, line, text: found }) => `${path}:${line}:${found}`).join("\n");
    const data = { path: work.plan.path, matches: search.matches, truncated: leftOut.size > 0 };
    const nothing = `[no line holds ${JSON.stringify(input.pattern)}]`;
    return { kind: "value", text: (text || nothing) + omissions(leftOut), data };
  },
});

/** Looks into every file that is asked for; gives what was left out, and why. */
async function searchAll(
  search: Search,
  wanted: ReturnType<typeof glob>,
  work: Work<FilePlan>,
): Promise<ReadonlySet<string>> {
  const { path } = work.plan;
  const walk = new Walk(
    work,
    (below, name) => wanted.reaches(below) && (!SELDOM_MEANT.has(name) || wanted.names(name)),
  );
  const { workspace, state } = work.bench;
  let [ours, inWorkspace]: [Twins?, Twins?] = [];
  /** Whether a file that was met by one of its several names is not to be looked into. */
  const isKept = (stat: BigIntStats, at: string): boolean => {
    if ((ours ??= twinsIn(state)).has(identity(stat))) return true;
    if (walk.isApproved || !within(workspace, at)) return false;
    return !isOwnFile(stat, workspace, (inWorkspace ??= twinsIn(workspace)));
  };
  const look = async (folder: Folder, name: string) => {
    try {
      const { bytes, stat } = await folder.read(name);
      const at = join(folder.path, name);
      if (isShared(stat) && isKept(stat, at)) walk.leftOut.add("what policy keeps from the model");
      else search.lookInto(bytes, shown(at, work.bench));
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

/** The matches so far, and why no more are taken. */
class Search {
  readonly matches: { path: string; line: number; text: string }[] = [];
  /** Why the search is over before its time. */
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
    // Most files do not hold the text at all, and bytes are compared much faster than they are decoded.
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
