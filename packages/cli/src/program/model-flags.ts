import { Option } from "commander";
import type { Command } from "commander";
import { REASONING_EFFORTS } from "@vidro/core";
import type { ReasoningEffort } from "@vidro/core";

/** Which model decides, and how long it thinks. */
export interface ModelFlags {
  readonly model?: string;
  readonly effort?: ReasoningEffort;
}

/** Adds the flags that choose the model. */
export function addModelFlags(command: Command): Command {
  return command
    .option("--model <model>", "model that decides, or several with commas (default: the agent's, else VIDRO_MODEL)")
    .addOption(
      new Option("--effort <level>", "how long the model thinks (default: the vendor's)").choices(REASONING_EFFORTS),
    );
}

/** The flags of a model as a run takes them. */
export function modelOf({ model, effort }: ModelFlags): ModelFlags {
  return { ...(model === undefined ? {} : { model }), ...(effort === undefined ? {} : { effort }) };
}
