import { Command, InvalidArgumentError, Option } from "commander";
import { HANDS_WORDS, JSON_FLAG, listed, named, YES_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";
import { addHands } from "./hands-program.ts";

const count = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number === 0)
    throw new InvalidArgumentError("It must be a whole number from 1 up.");
  return number;
};

const cursor = (text: string): number => (text === "0" ? 0 : count(text));

const port = (text: string): number => {
  const number = cursor(text);
  if (number > 65_535) throw new InvalidArgumentError("A port is at most 65535.");
  return number;
};

const VERBOSE_FLAG = ["--verbose", "show everything: whole output, every verdict"] as const;
const AGENT_ARGUMENT = ["<agent>", "an agent's name or uuid"] as const;
const RUN_ARGUMENT = ["<run>", "a run's id, or the end of it (4 characters or more)"] as const;

const loadRuns = () => import("../commands/runs.ts");
const loadAgents = () => import("../commands/agents.ts");
const loadPolicy = () => import("../commands/policy.ts");
const loadTokens = () => import("../commands/tokens.ts");

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
  addUp(root, exit);
  addRun(root, exit);
  addCode(root, exit);
  addAttach(root, exit);
  addRuns(root, exit);
  addAgents(root, exit);
  addTokens(root, exit);
  addHands(root, exit);
  addTcp(root, exit);
  addPolicy(root, exit);
  addConfig(root, exit);
  addAudit(root, exit);
  return root;
}

function addUp(root: Command, exit: Exit): void {
  root
    .command("up")
    .description("start the brain as a daemon, with a hand for this folder")
    .addOption(new Option("--port <n>", "port to listen on; 0 picks a free one (default: 3120)").argParser(port))
    .option("--host <address>", "address to listen on; beyond this machine only with TLS (default: 127.0.0.1)")
    .option("--tls-cert <file>", "a certificate in PEM")
    .option("--tls-key <file>", "its key in PEM")
    .addOption(
      new Option("--on-restart <way>", "what happens to runs that were open (default: resume)").choices([
        "resume",
        "hold",
      ]),
    )
    .option("--restored", "the state came back from a backup: ask about each run that was open")
    .option("--no-local-hand", "execute nothing on this machine")
    .addOption(
      new Option(
        "--southbound-port <n>",
        "where hands on other machines come in (default: 3121, once one is invited)",
      ).argParser(port),
    )
    .addOption(
      new Option(
        "--southbound-host <a,b>",
        "names and addresses that other machines reach this one by (default: VIDRO_SOUTHBOUND_HOSTS, else only this machine)",
      ).argParser(listed),
    )
    .option("--json", "one line of JSON when it is ready, then the log as JSON on stderr")
    .action(async (flags) => exit(await (await import("../commands/up.ts")).up(flags)));
  named(root.command("status"))
    .description("tell how the brain is that is up")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/status.ts")).status(flags)));
  named(root.command("console"))
    .description("print the address of the brain that is up, for a browser")
    .action(async (flags) => exit(await (await import("../commands/console.ts")).openConsole(flags)));
}

function addRun(root: Command, exit: Exit): void {
  named(root.command("run"))
    .description("run a task and watch it")
    .argument("<task...>", "what is to be done; - reads it from stdin")
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "only the answer")
    .option(...VERBOSE_FLAG)
    .option("--workspace <folder>", "the folder to work in (default: this one)")
    .option("--agent <name>", "the agent that does it, by name or uuid (default: bunny)")
    .option("--on <hands>", HANDS_WORDS)
    .option("--key <key>", "the same key gives the same run, however often it is asked for")
    .addOption(new Option("--max-steps <n>", "most turns of the model").argParser(count))
    .addOption(new Option("--max-actions <n>", "most actions").argParser(count))
    .addOption(new Option("--max-tokens <n>", "most tokens, in and out").argParser(count))
    .addOption(new Option("--max-minutes <n>", "longest time at work").argParser(count))
    .action(async (words: string[], flags) => exit(await (await import("../commands/run.ts")).run(words, flags)));
}

function addCode(root: Command, exit: Exit): void {
  named(root.command("code"))
    .description("have a brain work in this folder: it decides, this process executes (also: codegen)")
    .argument("[task...]", "what is to be done; - reads it from stdin")
    .option("--resume <run>", "go on with a run that was left open; its id, or the end of it")
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "only the answer")
    .option(...VERBOSE_FLAG)
    .option("--workspace <folder>", "the folder to work in (default: this one)")
    .action(async (words: string[], flags) => exit(await (await import("../commands/code.ts")).code(words, flags)));
}

function addAttach(root: Command, exit: Exit): void {
  named(root.command("attach"))
    .description("watch a run from its beginning; one whose process died goes on")
    .argument("[run]", RUN_ARGUMENT[1])
    .option("--last", "the newest run")
    .addOption(new Option("--after <seq>", "only what comes after this entry").argParser(cursor))
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "only the answer")
    .option(...VERBOSE_FLAG)
    .action(async (run: string | undefined, flags) =>
      exit(await (await import("../commands/attach.ts")).attach(run, flags)),
    );
}

function addRuns(root: Command, exit: Exit): void {
  const runs = root.command("runs").description("what was run");
  named(runs.command("list"))
    .description("list runs, newest first")
    .option("--open", "only runs that are not over")
    .addOption(new Option("--limit <n>", "most runs to list").argParser(count))
    .option("--after <id>", "only runs before this one: the last one of the list that is gone on with")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadRuns()).list(flags)));
  named(runs.command("show"))
    .description("tell the whole story of a run")
    .argument(...RUN_ARGUMENT)
    .option(...JSON_FLAG)
    .option(...VERBOSE_FLAG)
    .action(async (run: string, flags) => exit(await (await loadRuns()).show(run, flags)));
  named(runs.command("export"))
    .description("write all entries of a run as NDJSON")
    .argument(...RUN_ARGUMENT)
    .option("--out <file>", "a new file (default: stdout)")
    .action(async (run: string, flags) => exit(await (await loadRuns()).exportRun(run, flags)));
  named(runs.command("abort"))
    .description("end a run that is open")
    .argument(...RUN_ARGUMENT)
    .action(async (run: string, flags) => exit(await (await loadRuns()).abort(run, flags)));
}

function addAgents(root: Command, exit: Exit): void {
  const agents = root.command("agents").description("who may decide: personas with a prompt, a model and tools");
  named(agents.command("list"))
    .description("list agents, bunny first and the others by name")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadAgents()).list(flags)));
  named(agents.command("show"))
    .description("tell all that an agent is made of")
    .argument(...AGENT_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (agent: string, flags) => exit(await (await loadAgents()).show(agent, flags)));
  named(agents.command("create"))
    .description("make an agent; its uuid is printed")
    .requiredOption("--name <name>", "what it is called")
    .option("--description <text>", "what it is for")
    .option("--model <model>", "the model that decides for it (default: the brain's choice)")
    .addOption(new Option("--tools <a,b>", "the tools that it has (default: all there are)").argParser(listed))
    .addOption(new Option("--prompt <text>", "the words that begin its every prompt").conflicts("promptFile"))
    .option("--prompt-file <file>", "a file with these words")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadAgents()).create(flags)));
  named(agents.command("delete"))
    .description("forget what was made of an agent")
    .argument(...AGENT_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (agent: string, flags) => exit(await (await loadAgents()).remove(agent, flags)));
}

function addTokens(root: Command, exit: Exit): void {
  const tokens = root.command("tokens").description("who may talk to the brain of this machine");
  tokens
    .command("create")
    .description("make a token; its secret is shown this once")
    .addOption(
      new Option("--role <role>", "chooses the scopes").choices(["user", "admin"]).default("user").conflicts("scopes"),
    )
    .addOption(new Option("--scopes <a,b>", "what it may do, instead of a role's scopes").argParser(listed))
    .option("--owner <name>", "whose it is (default: the person at this machine)")
    .option("--expires <when>", "30d, 12h, 45m, or a time like 2030-01-31T12:00:00Z (default: never)")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadTokens()).create(flags)));
  tokens
    .command("list")
    .description("list tokens, oldest first")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadTokens()).list(flags)));
  tokens
    .command("export")
    .description("write tokens for a hand on another host, without their secrets")
    .argument("<id...>", "the tokens' ids")
    .requiredOption("--out <file>", "a new file, which only its owner can read")
    .action(async (ids: string[], { out }) => exit(await (await loadTokens()).exportTokens(ids, out)));
  tokens
    .command("revoke")
    .description("end a token and every live session of it")
    .argument("<id>", "a token's id")
    .action(async (id: string) => exit(await (await loadTokens()).revoke(id)));
}

function addTcp(root: Command, exit: Exit): void {
  root
    .command("tcp")
    .description("ask a server of the TCP agent protocol for one action")
    .argument("<address>", "host or host:port (default port: 4000)")
    .argument("<act>", "HELLO, PING, GET_OS_INFO, PS, WATCH, GET_WATCHES, OS_CMD, …")
    .argument("[data...]", "a JSON object, or key=value each")
    .option("--token <token>", "who asks (default: VIDRO_TOKEN)")
    .option("--tls", "speak TLS")
    .option("--ca <file>", "speak TLS, and trust this certificate in PEM")
    .option(...JSON_FLAG)
    .action(async (address: string, act: string, data: string[], flags) =>
      exit(await (await import("../commands/tcp.ts")).tcp(address, [act, ...data], flags)),
    );
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

function addConfig(root: Command, exit: Exit): void {
  const config = root.command("config").description("show settings and where their values come from");
  const loadConfig = () => import("../commands/config.ts");
  config
    .command("list")
    .description("list every setting, its value and where the value comes from")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadConfig()).list(flags)));
  config
    .command("explain")
    .description("explain a setting: value, origin, what it does, and where it may be set")
    .argument("[key]", "a setting, as url or VIDRO_URL (default: all)")
    .option(...JSON_FLAG)
    .action(async (key: string | undefined, flags) => exit(await (await loadConfig()).explain(key, flags)));
}

function addAudit(root: Command, exit: Exit): void {
  const audit = root.command("audit").description("prove that the journal was not altered");
  const loadReceipts = () => import("../commands/audit-receipts.ts");
  const keys = ["--keys <file>", "public keys of hands, as audit keys and vidro-hand key write them"] as const;
  audit
    .command("verify")
    .description("check the hash chain of every run, or of one, the receipts of its hands, and the seals of all")
    .argument("[run]", RUN_ARGUMENT[1])
    .option(...keys)
    .option(...JSON_FLAG)
    .action(async (run: string | undefined, flags) =>
      exit(await (await import("../commands/audit.ts")).verify(run, flags)),
    );
  audit
    .command("keys")
    .description("write the public keys that hands sign receipts with")
    .action(async () => exit(await (await loadReceipts()).keys()));
  audit
    .command("export")
    .description("write the outcomes that hands have signed, of every run or of one")
    .argument("[run]", RUN_ARGUMENT[1])
    .action(async (run: string | undefined) => exit(await (await loadReceipts()).exportReceipts(run)));
  audit
    .command("receipts")
    .description("check outcomes that were exported, with the public keys of the hands and nothing else")
    .argument("<file>", "as audit export writes it")
    .requiredOption(...keys)
    .option(...JSON_FLAG)
    .action(async (file: string, flags) => exit(await (await loadReceipts()).checkExported(file, flags)));
  root
    .command("doctor")
    .description("look at everything that a run needs; changes nothing")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/doctor.ts")).doctor(flags)));
}
