import type { Command } from "commander";

/** How a command hands over the code to exit with. */
export type Exit = (code: number) => void;

/** Words with commas between them. */
export const splitCommas = (text: string): readonly string[] => text.split(",").map((word) => word.trim());

/** For programs that read what a command says. */
export const JSON_FLAG = ["--json", "print JSON, one line for each item"] as const;

/** For whoever has decided already. */
export const YES_FLAG = ["--yes", "answer yes to every question; what the policy denies stays denied"] as const;

/** How hands are chosen. */
export const HANDS_WORDS = "hands to use: an id, a name, tag:NAME, tool:NAME, or several with commas";

/** Which brain: a named one, else the running daemon, else one in this process. */
export function addBrainFlags(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "address of the brain (default: VIDRO_URL, else the running daemon, else a brain inside this command)",
    )
    .option("--token <token>", "token to send to the brain (default: VIDRO_TOKEN, else the running daemon's own)");
}
