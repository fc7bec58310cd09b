import type { Command } from "commander";

/** Receives the exit code of a command. */
export type Exit = (code: number) => void;

/** Splits a text at its commas. */
export const splitCommas = (text: string): readonly string[] => text.split(",").map((word) => word.trim());

/** Output for programs. */
export const JSON_FLAG = ["--json", "print JSON, one line for each item"] as const;

/** Approves without asking. */
export const YES_FLAG = ["--yes", "answer yes to every question; what the policy denies stays denied"] as const;

/** Help for arguments that select hands. */
export const HANDS_WORDS = "hands to use: an id, a name, tag:NAME, tool:NAME, or several with commas";

/** Adds the flags that choose the brain. */
export function addBrainFlags(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "address of the brain (default: VIDRO_URL, else the running daemon, else a brain inside this command)",
    )
    .option("--token <token>", "token to send to the brain (default: VIDRO_TOKEN, else the running daemon's own)");
}

/** The flag that shows a run whole. */
export const VERBOSE_FLAG = ["--verbose", "show the whole output of commands and every verdict of the policy"] as const;

/** The argument that names a run. */
export const RUN_ARGUMENT = ["<run>", "id of a run, or its last characters (4 or more)"] as const;
