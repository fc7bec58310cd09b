import { BOOTSTRAP, DIRECT } from "@vidro/core/run";
import { commandLine } from "@vidro/core/text";
import type { Event } from "@vidro/core";

/** The model's present work, in a word. */
export function doingOf({ attempt, summary }: Extract<Event, { type: "model.called" }>): string {
  if (summary === true) return "summing up";
  return attempt > 1 ? `thinking, try ${attempt}` : "thinking";
}

/** The task of a run; that of a run that carries out one command is its command line. */
export function shownTask(task: string, model: string): string {
  if (model !== DIRECT) return task;
  try {
    const argv: unknown = JSON.parse(task);
    return Array.isArray(argv) ? commandLine(argv.map(String)) : task;
  } catch {
    return task;
  }
}

/** The name of a model without the mark of a run that looks around first. */
export function shownModel(model: string): string {
  return model.startsWith(BOOTSTRAP) ? model.slice(BOOTSTRAP.length) : model;
}
