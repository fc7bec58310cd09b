import { Command, Option } from "commander";
import { addBrainFlags, HANDS_WORDS, JSON_FLAG, RUN_ARGUMENT, splitCommas, VERBOSE_FLAG, YES_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";
import { addHands } from "./hands-program.ts";
import { addHooks } from "./hooks-program.ts";
import { addKnowledge } from "./knowledge-program.ts";
import { addRuns } from "./runs-program.ts";
import { addAcp, addMcp, addTcp, addWorker } from "./wire-program.ts";
import { addTools } from "./tools-program.ts";
import { addWebhooks } from "./webhooks-program.ts";
import { addFileCommands } from "./commands-program.ts";
import { addProcesses } from "./processes-program.ts";
import { addSchedules } from "./schedules-program.ts";
import { helpIn } from "./help-words.ts";
import { terminalLanguage } from "../view/terminal-kind.ts";
import { addShell } from "./shell-program.ts";
import { addModelFlags } from "./model-flags.ts";
import { addDaemon } from "./daemon-program.ts";
import { amount, count, cursor } from "./numbers.ts";

const AGENT_ARGUMENT = ["<agent>", "name or uuid of an agent"] as const;

const loadAgents = () => import("../commands/agents.ts");
const loadPolicy = () => import("../commands/policy.ts");
const loadTokens = () => import("../commands/tokens.ts");

/** The command line; the code of a command is loaded when the command is called. */
export function buildProgram(version: string, exit: Exit): Command {
  const root = new Command("vidro")
    .description(
      "Runs tasks on your machines: a brain decides, hands execute, every step is recorded.\nWithout a command, vidro opens a conversation.",
    )
    .version(version, "-v, --version", "print the version")
    // Behind a command -v is no question for the version: vidro run grep -v x would do nothing and succeed.
    .enablePositionalOptions()
    .helpCommand("help [command]", "show help for a command")
    .configureHelp({ showGlobalOptions: false, ...helpIn(terminalLanguage()) })
    .addHelpText("after", '\nTry:\n  vidro run "how much disk is free here?"\n  vidro doctor')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  addDaemon(root, exit);
  addRun(root, exit);
  addChat(root, exit);
  addCode(root, exit).version(version, "-v, --version", "print the version");
  addAttach(root, exit);
  addSay(root, exit);
  addRuns(root, exit);
  addApprovals(root, exit);
  addAgents(root, exit);
  addKnowledge(root, exit);
  addTools(root, exit);
  addSchedules(root, exit);
  addHooks(root, exit);
  addWebhooks(root, exit);
  addTokens(root, exit);
  addHands(root, exit);
  addProcesses(root, exit);
  addFileCommands(root, exit);
  addMcp(root, exit);
  addAcp(root, exit);
  addTcp(root, exit);
  addWorker(root, exit);
  addPolicy(root, exit);
  addModels(root, exit);
  addConfig(root, exit);
  addAudit(root, exit);
  addShell(root, exit);
  return root;
}

function addRun(root: Command, exit: Exit): void {
  addModelFlags(addBrainFlags(root.command("run")))
    .description("run a task and show it until it ends")
    .argument("<task...>", "what to do; - reads it from stdin")
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "print only the answer")
    .option(...VERBOSE_FLAG)
    .option("--workspace <folder>", "folder to work in (default: the current one)")
    .option("--agent <name>", "agent that does it, by name or uuid (default: bunny)")
    .option("--on <hands>", HANDS_WORDS)
    .option("--thread <id>", "conversation to go on with: the thread of an earlier run")
    .option("--key <key>", "idempotency key: asking again with the same key gives the same run")
    .addOption(new Option("--max-steps <n>", "limit of model calls").argParser(count))
    .addOption(new Option("--max-actions <n>", "limit of actions").argParser(count))
    .addOption(new Option("--max-tokens <n>", "limit of tokens, input and output together").argParser(count))
    .addOption(new Option("--max-cost <dollars>", "limit of what the model costs, in US dollars").argParser(amount))
    .addOption(
      new Option("--max-thread-cost <dollars>", "limit of what all runs of the conversation cost").argParser(amount),
    )
    .addOption(new Option("--max-minutes <n>", "limit of working time in minutes").argParser(count))
    .action(async (words: string[], flags) => exit(await (await import("../commands/run.ts")).run(words, flags)));
}

function addChat(root: Command, exit: Exit): void {
  addModelFlags(addBrainFlags(root.command("chat")))
    .description("open a conversation, as vidro alone does")
    .action(async (flags) => exit(await (await import("../commands/talk.ts")).talk(flags)));
}

/** `codegen` is this command, so that its flags are those of a program, the version among them. */
function addCode(root: Command, exit: Exit): Command {
  return addModelFlags(addBrainFlags(root.command("code")))
    .description("work on this folder: a brain decides, this process executes (also: codegen)")
    .argument("[task...]", "what to do; - reads it from stdin")
    .option("--continue", "go on with the last conversation of this folder")
    .option("--resume <run>", "go on with an open run: its id, or the last characters of it")
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "print only the answer")
    .option(...VERBOSE_FLAG)
    .option("--workspace <folder>", "folder to work in (default: the current one)")
    .action(async (words: string[], flags) => exit(await (await import("../commands/code.ts")).code(words, flags)));
}

function addAttach(root: Command, exit: Exit): void {
  addBrainFlags(root.command("attach"))
    .description("watch a run from its beginning; a run without a driver is driven on")
    .argument("[run]", RUN_ARGUMENT[1])
    .option("--last", "the newest run")
    .addOption(new Option("--after <seq>", "show only entries after this number").argParser(cursor))
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "print only the answer")
    .option(...VERBOSE_FLAG)
    .action(async (run: string | undefined, flags) =>
      exit(await (await import("../commands/attach.ts")).attach(run, flags)),
    );
}

function addSay(root: Command, exit: Exit): void {
  addBrainFlags(root.command("say"))
    .description("say something to a run at work; its model is told with the next step")
    .argument(...RUN_ARGUMENT)
    .argument("<words...>", "what to say; - reads it from stdin")
    .option("--key <key>", "idempotency key: the same words with the same key are said once")
    .action(async (run: string, words: string[], flags) =>
      exit(await (await import("../commands/say.ts")).sayToRun(run, words, flags)),
    );
}

function addApprovals(root: Command, exit: Exit): void {
  const approvals = root.command("approvals").description("list, show and decide what waits for a person's yes");
  const load = () => import("../commands/approvals.ts");
  const which = ["<run>", "run that asks: its id, the last characters of it, or the id of the question"] as const;
  addBrainFlags(approvals.command("list"))
    .description("list what waits for a yes in all runs, the longest wait first")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await load()).listApprovals(flags)));
  addBrainFlags(approvals.command("show"))
    .description("show the whole plan that a yes would approve")
    .argument(...which)
    .option(...JSON_FLAG)
    .action(async (run: string, flags) => exit(await (await load()).showApproval(run, flags)));
  addBrainFlags(approvals.command("link"))
    .description("print a link with which a phone answers what waits in a run, once")
    .argument(...which)
    .option("--qr", "also as a QR code for the phone's camera")
    .option(...JSON_FLAG)
    .action(async (run: string, flags) => exit(await (await load()).linkApproval(run, flags)));
  addBrainFlags(approvals.command("approve"))
    .description("approve the plan that waits in a run")
    .argument(...which)
    .option("--for-run", "and the same plan again in this run")
    .option("--always", "and always: adds the rule that vidro approvals show shows to the policy")
    .option("--change <text>", "run this instead: a command line, or fields of the input as JSON")
    .action(async (run: string, flags) => exit(await (await load()).approvePlan(run, flags)));
  addBrainFlags(approvals.command("deny"))
    .description("deny the plan that waits in a run; the run goes on without it")
    .argument(...which)
    .option("--because <text>", "reason, told to the model")
    .action(async (run: string, flags) => exit(await (await load()).denyPlan(run, flags)));
}

function addAgents(root: Command, exit: Exit): void {
  const agents = root
    .command("agents")
    .description("list and change agents: personas with a prompt, a model and tools");
  addBrainFlags(agents.command("list"))
    .description("list agents, bunny first, then by name")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadAgents()).listAgents(flags)));
  addBrainFlags(agents.command("show"))
    .description("show an agent with its prompt")
    .argument(...AGENT_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (agent: string, flags) => exit(await (await loadAgents()).showAgent(agent, flags)));
  addBrainFlags(agents.command("create"))
    .description("create an agent and print its uuid")
    .requiredOption("--name <name>", "name of the agent")
    .option("--description <text>", "what the agent is for")
    .option("--model <model>", "model of the agent (default: the brain's choice)")
    .addOption(new Option("--tools <a,b>", "tools of the agent (default: all)").argParser(splitCommas))
    .addOption(new Option("--prompt <text>", "text that begins every prompt").conflicts("promptFile"))
    .option("--prompt-file <file>", "file with that text")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadAgents()).createAgent(flags)));
  addBrainFlags(agents.command("delete"))
    .description("delete an agent that was created")
    .argument(...AGENT_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (agent: string, flags) => exit(await (await loadAgents()).deleteAgent(agent, flags)));
}

function addTokens(root: Command, exit: Exit): void {
  const tokens = root.command("tokens").description("create, list and revoke tokens for the brain of this home");
  tokens
    .command("create")
    .description("create a token; its secret is printed only now")
    .addOption(
      new Option("--role <role>", "role that gives the token its scopes")
        .choices(["user", "admin"])
        .default("user")
        .conflicts("scopes"),
    )
    .addOption(new Option("--scopes <a,b>", "scopes of the token, instead of a role's").argParser(splitCommas))
    .option("--owner <name>", "owner of the token (default: the person at this machine)")
    .option("--expires <when>", "when it expires: 30d, 12h, 45m, or a time like 2030-01-31T12:00:00Z (default: never)")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadTokens()).createToken(flags)));
  tokens
    .command("list")
    .description("list tokens, oldest first")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadTokens()).listTokens(flags)));
  tokens
    .command("export")
    .description("write hashes of tokens to a file for a hand on another host")
    .argument("<id...>", "ids of the tokens")
    .requiredOption("--out <file>", "new file to write; only its owner can read it")
    .action(async (ids: string[], { out }) => exit(await (await loadTokens()).exportTokens(ids, out)));
  tokens
    .command("revoke")
    .description("revoke a token and end its open connections")
    .argument("<id>", "id of a token")
    .action(async (id: string) => exit(await (await loadTokens()).revokeToken(id)));
}

function addPolicy(root: Command, exit: Exit): void {
  const policy = root.command("policy").description("show, change, check and explain what hands may do without asking");
  const loadRules = () => import("../commands/policy/rules.ts");
  policy
    .command("show")
    .description("list the rules in force, or show one as it is written")
    .argument("[rule]", "id of a rule")
    .option(...JSON_FLAG)
    .action(async (rule: string | undefined, flags) => exit(await (await loadRules()).showPolicy(rule, flags)));
  policy
    .command("add")
    .description("add a rule beside the shipped ones: vidro policy add allow -- npm test")
    .argument("[words...]", "allow, ask or deny, and a program with its arguments after --")
    .option("--shell", "the words are one shell command line, to the letter")
    .option("--id <id>", "name of the rule (default: made of its words)")
    .option("--why <text>", "reason, shown to the person who is asked or refused")
    .option("--rule <file>", "file with one rule as JSON, instead of words")
    .option(...JSON_FLAG)
    .action(async (words: string[], flags) => exit(await (await loadRules()).addRule(words, flags)));
  policy
    .command("remove")
    .description("remove a rule that was added")
    .argument("<rule>", "id of a rule, as vidro policy show lists it")
    .option(...JSON_FLAG)
    .action(async (rule: string, flags) => exit(await (await loadRules()).removeRule(rule, flags)));
  policy
    .command("check")
    .description("check a policy file and run its examples")
    .argument("[file]", "policy file (default: the one in force)")
    .option(...JSON_FLAG)
    .action(async (file: string | undefined, flags) => exit(await (await loadPolicy()).check(file, flags)));
  addBrainFlags(policy.command("test"))
    .description("judge the actions of past runs by a policy and show what it would decide otherwise; runs nothing")
    .argument("[file]", "policy file (default: the one in force)")
    .option("--history", "the actions of past runs, newest first")
    .addOption(new Option("--limit <n>", "how many runs to look at").argParser(count))
    .option(...JSON_FLAG)
    .action(async (file: string | undefined, flags) =>
      exit(await (await import("../commands/policy/history-test.ts")).testPolicy(file, flags)),
    );
  policy
    .command("explain")
    .description("explain whether a command would be allowed, without running it")
    .argument("<command...>", "a program and its arguments, after --")
    .option("--shell", "treat it as a shell command line")
    .option(...JSON_FLAG)
    .action(async (words: string[], flags) => exit(await (await loadPolicy()).explainCommand(words, flags)));
}

function addModels(root: Command, exit: Exit): void {
  const models = root.command("models").description("list, show and test models");
  const loadModels = () => import("../commands/models.ts");
  const name = ["[model]", "as --model takes it (default: the model that would be chosen)"] as const;
  models
    .command("list")
    .description("list known models and those of servers: window, longest answer, prices, what is needed")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadModels()).listKnownModels(flags)));
  models
    .command("show")
    .description("show what is known of a model, and where each fact comes from")
    .argument(...name)
    .option(...JSON_FLAG)
    .action(async (model: string | undefined, flags) => exit(await (await loadModels()).showModel(model, flags)));
  models
    .command("test")
    .description("call a model with a small task and tell what came of it")
    .argument(...name)
    .option(...JSON_FLAG)
    .action(async (model: string | undefined, flags) => exit(await (await loadModels()).testModel(model, flags)));
}

function addConfig(root: Command, exit: Exit): void {
  const config = root.command("config").description("show settings and where their values come from");
  const loadConfig = () => import("../commands/config.ts");
  config
    .command("list")
    .description("list every setting, its value and where the value comes from")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadConfig()).listSettings(flags)));
  config
    .command("explain")
    .description("explain a setting: value, origin, what it does, and where it may be set")
    .argument("[key]", "a setting, as url or VIDRO_URL (default: all)")
    .option(...JSON_FLAG)
    .action(async (key: string | undefined, flags) => exit(await (await loadConfig()).explainSettings(key, flags)));
}

function addAudit(root: Command, exit: Exit): void {
  const audit = root.command("audit").description("verify that journal and outcomes were not altered");
  const loadReceipts = () => import("../commands/audit/receipts.ts");
  const keys = [
    "--keys <file>",
    "file with public keys of hands, as vidro audit keys and vidro-hand key print them",
  ] as const;
  audit
    .command("verify")
    .description("verify the hash chain and receipts of all runs or of one, and the seals of the store")
    .argument("[run]", RUN_ARGUMENT[1])
    .option(...keys)
    .option(...JSON_FLAG)
    .action(async (run: string | undefined, flags) =>
      exit(await (await import("../commands/audit.ts")).verifyAudit(run, flags)),
    );
  audit
    .command("keys")
    .description("print the public keys that hands sign receipts with")
    .action(async () => exit(await (await loadReceipts()).printHandKeys()));
  audit
    .command("export")
    .description("print the outcomes that hands have signed, of all runs or of one")
    .argument("[run]", RUN_ARGUMENT[1])
    .action(async (run: string | undefined) => exit(await (await loadReceipts()).exportReceipts(run)));
  audit
    .command("receipts")
    .description("verify exported outcomes with nothing but the public keys of the hands")
    .argument("<file>", "output of vidro audit export")
    .requiredOption(...keys)
    .option(...JSON_FLAG)
    .action(async (file: string, flags) => exit(await (await loadReceipts()).checkExported(file, flags)));
  root
    .command("doctor")
    .description("check everything that a run needs, without changing anything")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/doctor.ts")).runDoctor(flags)));
}
