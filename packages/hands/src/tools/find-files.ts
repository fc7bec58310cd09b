import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { Folder } from "../files/files.ts";
import { compileGlob } from "../files/glob.ts";
import { pathSchema, readPlan, displayPath } from "../files/paths.ts";
import { SKIPPED_FOLDERS } from "../files/skipped-folders.ts";
import { omissionNote, FolderWalk } from "../files/walk.ts";
import { defineTool } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["pattern"],
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.globChars,
      description: "A glob: * ? [a-z] {a,b} and ** for any depth. Without a slash it is tried on names at any depth.",
    },
    path: pathSchema("The folder to look in; the workspace when left out."),
  },
  additionalProperties: false,
} as const;

/** Finds files by name. */
export const findFilesTool = defineTool({
  name: "find_files",
  description:
    "Finds files whose path matches a glob. .git and node_modules are left out unless the pattern names them.",
  parameters,
  idempotent: true,
  effect: "read",
  async plan(input, context): Promise<FilePlan> {
    compileGlob(input.pattern);
    return await readPlan(input.path ?? ".", context);
  },
  async run(input, execution) {
    const wanted = compileGlob(atAnyDepth(input.pattern));
    await using folder = await Folder.open(execution.plan.path);
    const walk = new FolderWalk(
      execution,
      (path, name) => wanted.reaches(path) && (!SKIPPED_FOLDERS.has(name) || wanted.names(name)),
    );
    const found: string[] = [];
    await walk.visit(folder, (met) => {
      if (met.entry.type === "other" || !wanted.matches(met.path)) return true;
      if (found.length === HAND_LIMITS.entries) {
        walk.leftOut.add(`there are more than ${HAND_LIMITS.entries} matches, so make the pattern narrower`);
        return false;
      }
      found.push(displayPath(met.realPath, execution.context));
      return true;
    });
    const text = found.length === 0 ? `[no file matches ${input.pattern}]` : found.join("\n");
    const data = { path: execution.plan.path, files: found, truncated: walk.leftOut.size > 0 };
    return { kind: "value", text: text + omissionNote(walk.leftOut), data };
  },
});

/** Makes a pattern without a slash match in every folder, as `find -name` does. */
export function atAnyDepth(pattern: string): string {
  return pattern.includes("/") ? pattern : `**/${pattern}`;
}
