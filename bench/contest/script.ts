/*
 * What every contestant is given to do: a model that answers at once and a tool that returns at once, with the same
 * words and sizes for all. No input comes twice, so no guard against loops is met.
 */

/** What the run is asked for. */
export const TASK = "Read the files one after the other and say what is in them.";

/** What the model says when the steps are done. */
export const ANSWER = "All files were read.";

/** The one tool, as a model is told of it. */
export const TOOL = {
  name: "read_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
} as const;

/** What the model says besides its call at a step. */
export function wordsAt(step: number): string {
  return `Next I look at file ${step}, as it comes after the one before it.`;
}

/** What the model calls the tool with at a step. */
export function inputAt(step: number): { path: string } {
  return { path: `notes/chapter-${step}.txt` };
}

/** The id of that call. */
export function callAt(step: number): string {
  return `call_${step}`;
}

/** What the tool gives. */
export const OUTPUT = "In the beginning there was a line, and the line was long enough to be worth reading. ".repeat(3);
