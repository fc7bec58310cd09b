import { Command, InvalidArgumentError, Option } from "commander";

/** How a command hands over the code to exit with. */
export type Exit = (code: number) => void;

const count = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number === 0)
    throw new InvalidArgumentError("It must be a whole number from 1 up.");
  return number;
};

const cursor = (text: string): number => (text === "0" ? 0 : count(text));

const JSON_FLAG = ["--json", "one line of JSON for each thing, for programs"] as const;
const YES_FLAG = ["--yes", "answer yes to every question; what policy denies stays denied"] as const;
const VERBOSE_FLAG = ["--verbose", "show everything: whole output, every verdict"] as const;
const RUN_ARGUMENT = ["<run>", "a run's id, or the end of it (4 characters or more)"] as const;

const loadRuns = () => import("./commands/runs.ts");
const loadPolicy = () => import("./commands/policy.ts");

/** The command line; what a command needs is loaded when it is called. */
export function program(version: string, exit: Exit): Command {
  const root = new Command("vidro")
    .description("A brain decides, hands execute, and the whole way is glass.\nvidro alone opens a conversation.")
    .version(version)
    .helpCommand("help [command]", "tell more about a command")
    .configureHelp({ showGlobalOptions: false })
    .addHelpText("after", '\nTry:\n  vidro run "how much disk is free here?"\n  vidro doctor')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  addRun(root, exit);
  addAttach(root, exit);
  addRuns(root, exit);
  addPolicy(root, exit);
  addAudit(root, exit);
  return root;
}

function addRun(root: Command, exit: Exit): void {
  root
    .command("run")
    .description("run a task and watch it")
    .argument("<task...>", "what is to be done; - reads it from stdin")
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "only the answer")
    .option(...VERBOSE_FLAG)
    .option("--workspace <folder>", "the folder to work in (default: this one)")
    .option("--key <key>", "the same key gives the same run, however often it is asked for")
    .addOption(new Option("--max-steps <n>", "most turns of the model").argParser(count))
    .addOption(new Option("--max-actions <n>", "most actions").argParser(count))
    .addOption(new Option("--max-tokens <n>", "most tokens, in and out").argParser(count))
    .addOption(new Option("--max-minutes <n>", "longest time at work").argParser(count))
    .action(async (words: string[], flags) => exit(await (await import("./commands/run.ts")).run(words, flags)));
}

function addAttach(root: Command, exit: Exit): void {
  root
    .command("attach")
    .description("watch a run from its beginning; one whose process died goes on")
    .argument("[run]", RUN_ARGUMENT[1])
    .option("--last", "the newest run")
    .addOption(new Option("--after <seq>", "only what comes after this entry").argParser(cursor))
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "only the answer")
    .option(...VERBOSE_FLAG)
    .action(async (run: string | undefined, flags) =>
      exit(await (await import("./commands/attach.ts")).attach(run, flags)),
    );
}

function addRuns(root: Command, exit: Exit): void {
  const runs = root.command("runs").description("what was run");
  runs
    .command("list")
    .description("list runs, newest first")
    .option("--open", "only runs that are not over")
    .addOption(new Option("--limit <n>", "most runs to list").argParser(count))
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadRuns()).list(flags)));
  runs
    .command("show")
    .description("tell the whole story of a run")
    .argument(...RUN_ARGUMENT)
    .option(...JSON_FLAG)
    .option(...VERBOSE_FLAG)
    .action(async (run: string, flags) => exit(await (await loadRuns()).show(run, flags)));
  runs
    .command("export")
    .description("write all entries of a run as NDJSON")
    .argument(...RUN_ARGUMENT)
    .option("--out <file>", "a new file (default: stdout)")
    .action(async (run: string, flags) => exit(await (await loadRuns()).exportRun(run, flags)));
  runs
    .command("abort")
    .description("end a run that is open")
    .argument(...RUN_ARGUMENT)
    .action(async (run: string) => exit(await (await loadRuns()).abort(run)));
}

function addPolicy(root: Command, exit: Exit): void {
  const policy = root.command("policy").description("what may run here");
  policy
    .command("check")
    .description("read a policy and try its examples")
    .argument("[file]", "a policy file (default: the one in force)")
    .option(...JSON_FLAG)
    .action(async (file: string | undefined, flags) => exit(await (await loadPolicy()).check(file, flags)));
  policy
    .command("explain")
    .description("would this run? nothing is run")
    .argument("<command...>", "a program and its arguments, behind --")
    .option("--shell", "as a line for the shell")
    .option(...JSON_FLAG)
    .action(async (words: string[], flags) => exit(await (await loadPolicy()).explainCommand(words, flags)));
}

function addAudit(root: Command, exit: Exit): void {
  root
    .command("audit")
    .description("prove that the journal was not altered")
    .command("verify")
    .description("check the hash chain of every run, or of one")
    .argument("[run]", RUN_ARGUMENT[1])
    .option(...JSON_FLAG)
    .action(async (run: string | undefined, flags) =>
      exit(await (await import("./commands/audit.ts")).verify(run, flags)),
    );
  root
    .command("doctor")
    .description("look at everything that a run needs; changes nothing")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("./commands/doctor.ts")).doctor(flags)));
}
