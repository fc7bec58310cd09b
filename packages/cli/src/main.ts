import manifest from "../package.json" with { type: "json" };
import { EXIT } from "./program/exit-codes.ts";
import { onUncaught, watchOutput } from "./view/interrupts.ts";
import { ignoreUserSignals } from "@vidro/hands/signals";

/* Only what every command needs is loaded here: the first words have to come at once. */

/** The vidro command: gives the code to exit with. */
async function main(argv: readonly string[]): Promise<number> {
  if (argv.length > 0) return command(argv);
  if (process.stdin.isTTY && process.stdout.isTTY) return (await import("./commands/talk.ts")).talk();
  const { buildProgram: program } = await import("./program/program.ts");
  const help = program(manifest.version, () => undefined).helpInformation();
  (await import("./program/output.ts")).say(...help.trimEnd().split("\n"));
  return EXIT.usage;
}

async function command(argv: readonly string[]): Promise<number> {
  const { CommanderError } = await import("commander");
  const { buildProgram: program } = await import("./program/program.ts");
  let code: number = EXIT.ok;
  try {
    await program(manifest.version, (given) => (code = given)).parseAsync([...argv], { from: "user" });
  } catch (thrown) {
    // Help and version that were asked for come as errors, too; they need nothing more than this.
    if (!(thrown instanceof CommanderError) || thrown.exitCode !== 0) throw thrown;
  }
  return code;
}

async function fail(thrown: unknown): Promise<number> {
  const { sayFailure } = await import("./program/failure.ts");
  return sayFailure(thrown, argv);
}

/** Idle connections of a model's client must not hold the process; what was written has to be out before it ends. */
function exit(code: number): void {
  process.stdout.write("", () => process.exit(code));
}

const argv = process.argv.slice(2);
watchOutput();
onUncaught((thrown) => void fail(thrown).then(exit));
ignoreUserSignals();
exit(await main(argv).catch(fail));
