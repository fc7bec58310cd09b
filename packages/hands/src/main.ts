import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { asFault, Fault, FAULTS } from "@vidro/core";
import { nextForJoining } from "@vidro/core/wire/enrolment";
import { handStateFolder } from "./config.ts";
import { joinBrain, keyLine, serveHand, signInAt, VERSION } from "./program/hand-commands.ts";
import { ignoreUserSignals } from "./program/signals.ts";
import { printVerbatim, printNote, printJson } from "./program/terminal.ts";

const HELP = `vidro-hand: carries out the orders of a brain on this host, under the policy of this host.

  vidro-hand join <url>                   join the brain that invited this host and serve it; the invitation is read
                                          from VIDRO_INVITATION or stdin
  vidro-hand serve                        serve the brain that was joined
  vidro-hand rejoin                       start the hand that the invitation in VIDRO_INVITATION has joined with
  vidro-hand stop                         end the hand that works in the background, and its service
  vidro-hand serve --tcp <host:port>      serve clients of the TCP agent protocol, without a brain
  vidro-hand login <server>               sign in at an MCP server of mcp.json that asks for it
  vidro-hand key                          show the public key of the receipts that this host signs
  vidro-hand unit [--dry-run]             install a systemd service with its own user; --dry-run only prints it

  -d, --detach          with join and serve: work in the background and return when the brain has heard this hand;
                        join makes it a service where there is systemd
  --log <file>          write notes to this file, of bounded size, instead of stderr
  --token-file <file>   file with the invitation (--token <token> is visible to every user of this host)
  --name <name>         name of this host, unless the invitation sets one (default: its hostname)
  --tags <a,b>          tags of this host, among those that the invitation allows
  --workspace <folder>  folder to work in (default: the current one)
  --state <folder>      folder for its identity and its ledger
  --transport <ws|http> how to connect to the brain: WebSocket, or HTTP with signed messages
  --listen <url>        with --transport http: address at which the brain may call this host, once it is allowed there
  --listen-cert <file>  certificate for that address in PEM, and its key: --listen-key <file>
  --tokens <file>       with --tcp: accepted tokens, written by vidro tokens export (default: tokens.json in the state)
  --tls-cert <file>     with --tcp: certificate in PEM, required beyond this machine, and its key: --tls-key <file>
  --brain <file>        with --tcp: certificate of the only brain whose approvals are accepted (vidro hands authority);
                        without it, tokens with the scope approve may approve
  --lab                 with --tcp: allow connections without TLS from other machines, for test networks
  --user <name>         with unit: user that the service runs as (default: vidro-hand)
  --json                print one line of JSON when it is ready, and errors as JSON
  --version, --help     print the version, or this text
`;

const OPTIONS = {
  token: { type: "string" },
  "token-file": { type: "string" },
  name: { type: "string" },
  tags: { type: "string" },
  workspace: { type: "string" },
  state: { type: "string" },
  transport: { type: "string" },
  listen: { type: "string" },
  "listen-cert": { type: "string" },
  "listen-key": { type: "string" },
  tcp: { type: "string" },
  tokens: { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  brain: { type: "string" },
  lab: { type: "boolean" },
  user: { type: "string" },
  detach: { type: "boolean", short: "d" },
  log: { type: "string" },
  json: { type: "boolean" },
  "dry-run": { type: "boolean" },
  help: { type: "boolean" },
  version: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parseArguments>["values"];

/** Runs the vidro-hand command; returns its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === "keep") return keep();
  const { values, positionals } = parseArguments(argv);
  const [command, url, ...others] = positionals;
  if (values.version === true) return printAndExit(`${VERSION}\n`);
  if (values.help === true || command === undefined) return printAndExit(HELP);
  if (others.length > 0 || (url !== undefined && !TAKING.includes(command)))
    throw new Fault("BAD_REQUEST", `${command} does not take ${others[0] ?? url}.`);
  if (command === "join") return runJoin(url, values);
  if (command === "serve") return runServe(values);
  if (command === "rejoin" || command === "stop") {
    const { rejoin, stopBackgroundHand } = await import("./program/background-hand.ts");
    if (command === "rejoin") return rejoin(values.state);
    return stopBackgroundHand(values.state ?? (await detachedState()));
  }
  if (command === "login") return signInAt(requireServer(url), placesOf(flagsOf(values).state));
  if (command === "key") return printAndExit(await keyLine(flagsOf(values).state));
  if (command !== "unit") throw new Fault("BAD_REQUEST", `There is no command ${command}: vidro-hand --help`);
  const { installUnit: unit } = await import("./program/unit.ts");
  return printAndExit(unit({ user: values.user, workspace: values.workspace, dryRun: values["dry-run"] === true }));
}

/** Keeps one process in the background, as a hand orders it on stdin. */
async function keep(): Promise<number> {
  const { keepProcess } = await import("./background/keeper.ts");
  await keepProcess({ input: process.stdin, report: process.stdout });
  process.exit(0);
}

/** Commands that take one word. */
const TAKING: readonly string[] = ["join", "login"];

function requireServer(name: string | undefined): string {
  if (name === undefined) throw new Fault("BAD_REQUEST", "login needs the name of a server in mcp.json.");
  return name;
}

function placesOf(state: string): { readonly file: string; readonly state: string } {
  return { file: resolve(state, "mcp.json"), state: resolve(state, "hand") };
}

function parseArguments(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw new Fault("BAD_REQUEST", (cause as Error).message, { cause });
  }
}

/** The state of a hand that works in the background: that of the service where there is one. */
async function detachedState(): Promise<string> {
  const { backgroundState } = await import("./program/background-hand.ts");
  return backgroundState() ?? defaultState();
}

async function runServe(values: Values): Promise<number> {
  if (values.tcp !== undefined) return runServeTcp(values.tcp, values);
  if (values.detach !== true) return serveHand(flagsOf(values));
  const { serveInBackground } = await import("./program/background-hand.ts");
  return serveInBackground(flagsOf(values).state);
}

async function runJoin(url: string | undefined, values: Values): Promise<number> {
  const { token, "token-file": tokenFile, name, tags, transport, detach = false } = values;
  if (url === undefined) throw new Fault("BAD_REQUEST", "join needs the address of the invitation: vidro hands invite");
  const state = values.state ?? (detach ? await detachedState() : undefined);
  return joinBrain({
    ...flagsOf({ ...values, ...(state === undefined ? {} : { state }) }),
    url,
    detach,
    ...(token === undefined ? {} : { token }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(name === undefined ? {} : { name }),
    ...(transport === undefined ? {} : { transport }),
    ...(tags === undefined ? {} : { tags: tags.split(",").map((tag) => tag.trim()) }),
  });
}

async function runServeTcp(tcp: string, values: Values): Promise<number> {
  const { serveTcp } = await import("./program/serve-tcp.ts");
  const { state, workspace, json } = flagsOf(values);
  const { name, tokens, brain, lab, "tls-cert": tlsCert, "tls-key": tlsKey } = values;
  return serveTcp({
    tcp,
    state,
    json,
    ...(workspace === undefined ? {} : { workspace }),
    ...(name === undefined ? {} : { name }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(brain === undefined ? {} : { brain }),
    ...(lab === undefined ? {} : { lab }),
    ...(tlsCert === undefined ? {} : { tlsCert }),
    ...(tlsKey === undefined ? {} : { tlsKey }),
  });
}

function flagsOf({ state = defaultState(), workspace, json, log, ...rest }: Values) {
  const { listen, "listen-cert": listenCert, "listen-key": listenKey } = rest;
  return {
    state: resolve(state),
    json: json === true,
    ...(log === undefined ? {} : { log }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(listen === undefined ? {} : { listen }),
    ...(listenCert === undefined ? {} : { listenCert }),
    ...(listenKey === undefined ? {} : { listenKey }),
  };
}

function defaultState(): string {
  const folder = handStateFolder();
  if (folder !== undefined) return folder;
  throw new Fault("BAD_REQUEST", "This user has no home folder for the state: pass --state <folder>.");
}

function printAndExit(text: string): number {
  printVerbatim(text);
  return 0;
}

function printFailure(thrown: unknown): number {
  const fault = asFault(thrown);
  const { exit } = FAULTS[fault.code];
  const next = nextForJoining(fault.code);
  if (process.argv.includes("--json")) printJson({ type: "error", code: fault.code, message: fault.message, next });
  printNote(`vidro-hand: ${fault.message}\n  next: ${next}`);
  return exit;
}

// A closed stdout or stderr does not end the hand.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
ignoreUserSignals();
const code = await main(process.argv.slice(2)).catch(printFailure);
process.stdout.write("", () => process.exit(code));
