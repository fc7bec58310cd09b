import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { join } from "node:path";
import { Folder } from "../files/files.ts";
import { glob } from "../files/glob.ts";
import { pathField, readPlan, shown } from "../files/paths.ts";
import { omissions, SELDOM_MEANT, Walk } from "../files/walk.ts";
import { tool } from "./tool.ts";

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
    path: pathField("The folder to look in; the workspace when left out."),
  },
  additionalProperties: false,
} as const;

/** Finds files by name. */
export const findFiles = tool({
  name: "find_files",
  description:
    "Finds files whose path matches a glob. .git and node_modules are left out unless the pattern names them.",
  parameters,
  idempotent: true,
  effect: "read",
  async plan(input, bench): Promise<FilePlan> {
    glob(input.pattern);
    return await readPlan(input.path ?? ".", bench);
  },
  async run(input, work) {
    const wanted = glob(anyDepth(input.pattern));
    await using folder = await Folder.open(work.plan.path);
    const walk = new Walk(
      work,
      (path, name) => wanted.reaches(path) && (!SELDOM_MEANT.has(name) || wanted.names(name)),
    );
    const found: string[] = [];
    for await (const met of walk.below(folder)) {
      if (met.entry.type === "other" || !wanted.matches(met.path)) continue;
      if (found.length === HAND_LIMITS.entries) {
        walk.leftOut.add(`there are more than ${HAND_LIMITS.entries} matches, so make the pattern narrower`);
        break;
      }
      found.push(shown(join(work.plan.path, met.path), work.bench));
    }
    const text = found.length === 0 ? `[no file matches ${input.pattern}]` : found.join("\n");
    const data = { path: work.plan.path, files: found, truncated: walk.leftOut.size > 0 };
    return { kind: "value", text: text + omissions(walk.leftOut), data };
  },
});

/** A bare name pattern is meant for every folder, as with `find -name`. */
export function anyDepth(pattern: string): string {
  return pattern.includes("/") ? pattern : `**/${pattern}`;
}
