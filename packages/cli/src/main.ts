import manifest from "../package.json" with { type: "json" };
import { EXIT } from "./program/exit-codes.ts";
import { onUncaught, watchOutput } from "./view/interrupts.ts";
import { ignoreUserSignals } from "@vidro/hands/signals";

/* Only what every command needs is loaded here, so that the first output comes at once. */

/** Runs the vidro command and gives its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  if (isTask(argv)) return command(["run", ...argv]);
  if (argv.length > 0) return command(argv);
  if (process.stdin.isTTY && process.stdout.isTTY) return (await import("./commands/talk.ts")).talk();
  const { buildProgram: program } = await import("./program/program.ts");
  const help = program(manifest.version, () => undefined).helpInformation();
  (await import("./program/output.ts")).say(...help.trimEnd().split("\n"));
  return EXIT.usage;
}

/** Whether the command line is a task itself: its first word, or the first after flags, holds a blank. */
function isTask([first = "", ...others]: readonly string[]): boolean {
  if (/\s/.test(first.trim())) return true;
  return first.startsWith("--") && others.some((word) => /\s/.test(word.trim()));
}

async function command(argv: readonly string[]): Promise<number> {
  const { CommanderError } = await import("commander");
  const { buildProgram: program } = await import("./program/program.ts");
  let code: number = EXIT.ok;
  try {
    await program(manifest.version, (given) => (code = given)).parseAsync([...argv], { from: "user" });
  } catch (thrown) {
    // Commander throws for --help and --version, too, with exit code 0.
    if (!(thrown instanceof CommanderError) || thrown.exitCode !== 0) throw thrown;
  }
  return code;
}

async function fail(thrown: unknown): Promise<number> {
  const { sayFailure } = await import("./program/failure.ts");
  return sayFailure(thrown, argv);
}

/** Ends the process when stdout is flushed; idle connections of a model's client would keep it alive. */
function exit(code: number): void {
  process.stdout.write("", () => process.exit(code));
}

const argv = process.argv.slice(2);
watchOutput();
onUncaught((thrown) => void fail(thrown).then(exit));
ignoreUserSignals();
exit(await main(argv).catch(fail));
