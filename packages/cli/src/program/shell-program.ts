import { Argument } from "commander";
import type { Command } from "commander";
import type { Exit } from "./flags.ts";

/** Adds the commands that print what a shell and `man` read. */
export function addShell(root: Command, exit: Exit): void {
  root
    .command("completion")
    .description("print the completion of a shell: source <(vidro completion bash)")
    .addArgument(new Argument("<shell>", "the shell that reads it").choices(["bash", "zsh", "fish"]))
    .action(async (shell: string) =>
      exit(await (await import("../commands/completion.ts")).printCompletion(shell, root)),
    );
  root
    .command("man")
    .description("print the manual page: vidro man | man -l -")
    .action(async () => exit(await (await import("../commands/man.ts")).printManual(root)));
}
