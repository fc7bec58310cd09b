import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { readContentIfAny, sha256, decodeText, writeContent } from "../files/files.ts";
import { applyHunks, applyMovedHunks, createDiff, readPatch, revertHunks } from "../files/patch.ts";
import type { Patch } from "../files/patch.ts";
import { pathSchema, readPlan, displayPath, writePlan } from "../files/paths.ts";
import { defineTool } from "./tool.ts";
import type { HandContext } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["path", "patch"],
  properties: {
    path: pathSchema("The file: absolute, or relative to the workspace. One that is missing counts as empty."),
    patch: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.patchBytes,
      description: "A unified diff of this one file.",
    },
    base_sha256: {
      type: "string",
      minLength: 64,
      maxLength: 64,
      description: "sha256 of the file that the patch was made for, as file_diff gives it.",
    },
  },
  additionalProperties: false,
} as const;

/** Applies a patch to one file, word for word. */
export const fileApplyTool = defineTool({
  name: "file_apply",
  description:
    "Applies a unified diff to one file, every hunk exactly where it says. What is applied already is left as it is.",
  parameters,
  // A second application recognises its own result, with or without a base, and changes nothing.
  idempotent: true,
  effect: "write",
  async plan(input, context): Promise<FilePlan> {
    const { path, patch, base_sha256 } = input;
    await readPatch(patch, namesOf(path, (await readPlan(path, context)).path, context));
    return await writePlan(path, { patch, base_sha256 }, context);
  },
  async run(input, { plan, context }) {
    const patch = await readPatch(input.patch, namesOf(input.path, plan.path, context));
    const content = await readContentIfAny(plan.path);
    const now = {
      text: content === undefined ? "" : decodeText(content, plan.path),
      sha256: content?.sha256 ?? sha256(""),
    };
    const result = decideResult(now, patch, input.base_sha256);
    if (result === undefined) {
      const name = displayPath(plan.path, context);
      const isUndecided = input.base_sha256 === undefined && applyHunks(now.text, patch.hunks) !== undefined;
      throw isUndecided ? undecidedFault(now, name) : await conflictFault(now, patch, name);
    }
    const data = { path: plan.path, applied: true, sha256: sha256(result) };
    if (result === now.text) {
      return { kind: "value", text: `${plan.path} already has this change.`, data: { ...data, already: true } };
    }
    await writeContent(plan.path, result, { expected: content?.stat ?? "nothing", make: plan.inWorkspace });
    return { kind: "value", text: `Applied the patch to ${plan.path}.`, data };
  },
});

/** A file's text as it is now. */
interface CurrentFile {
  readonly text: string;
  readonly sha256: string;
}

/** The names by which a patch may call the file. */
function namesOf(asked: string, path: string, context: HandContext): string[] {
  return [asked, displayPath(path, context), path];
}

/** The text after the patch, or the current text if the patch is applied already; undefined if neither fits. */
function decideResult(
  { text, sha256: current }: CurrentFile,
  { hunks }: Patch,
  base: string | undefined,
): string | undefined {
  const next = applyHunks(text, hunks);
  if (base === current) return next;
  const previous = revertHunks(text, hunks);
  if (base !== undefined) return previous !== undefined && sha256(previous) === base ? text : undefined;
  // The lines that the patch makes are not all there: it is not applied.
  if (previous === undefined) return next;
  // A file that is exactly what a patch for an empty file makes of it has the patch.
  if (previous === "") return text;
  // A pure deletion leaves no trace in the text: it is applied where it fits, unless it would fit a second time.
  if (text !== "" && hunks.some(({ after }) => after.length === 0))
    return next !== undefined && applyHunks(next, hunks) === undefined ? next : undefined;
  // Without a base the text must show whether the patch is applied; if it fits both ways, that cannot be decided.
  return next === undefined ? text : undefined;
}

/** A CONFLICT for a patch that fits, and whose result may be there already; with the base that has it applied. */
function undecidedFault({ sha256: base_sha256 }: CurrentFile, name: string): Fault {
  const message =
    `The patch fits ${name}, but the file may be what the patch makes already, and nothing in it shows which. ` +
    `To apply it to the file as it is, give base_sha256 ${base_sha256}; if the change is there, nothing is to be done.`;
  return new Fault("CONFLICT", message, { detail: { base_sha256, patch: "" } });
}

/** A CONFLICT with the current hash, and a patch rebased onto the current text if its lines still occur there. */
async function conflictFault(now: CurrentFile, patch: Patch, name: string): Promise<Fault> {
  const moved = await applyMovedHunks(now.text, patch);
  const fresh = moved === undefined ? "" : await createDiff(name.replace(/^\//, ""), now.text, moved);
  const way =
    fresh === ""
      ? "read the file and make a new patch"
      : `this is the same change made for the file as it is now:\n${fresh}`;
  return new Fault("CONFLICT", `The patch does not fit ${name}, whose base_sha256 is ${now.sha256}; ${way}`, {
    detail: { base_sha256: now.sha256, patch: fresh },
  });
}
