import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Terminal } from "../../packages/cli/src/stage.fixture.ts";
import { DocShell } from "../../tests/support/doc-shell.ts";
import { BareHost } from "../../tests/support/bare-host.ts";
import { ROOT } from "../setup.js";
import { approveOnPhone } from "./phone.ts";
import { missingLines, Readme } from "./readme.ts";

const PROMPT = "newcomer% ";
/** The keys below a question; what is typed before they are shown is not heard. */
const QUESTION = "y yes";
/** The most that a first start may install. */
const MOST_MODULES_BYTES = 250e6;

/** A machine with the usual programs, Node 20 and npm, and an empty home. */
class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), "vidro-newcomer-"));
  readonly clone = join(this.folder, "vidro");
  readonly env: NodeJS.ProcessEnv;

  constructor() {
    const [bin, home] = [join(this.folder, "bin"), join(this.folder, "home")];
    for (const made of [bin, home]) mkdirSync(made);
    for (const name of readdirSync("/usr/bin"))
      if (!/^(?:node|nodejs|npm|npx|corepack|vidro.*|codegen)$/.test(name))
        symlinkSync(`/usr/bin/${name}`, join(bin, name));
    symlinkSync(join(ROOT, "tests/node_modules/node-20/bin/node"), join(bin, "node"));
    const npm = realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
    writeFileSync(join(bin, "npm"), `#!/bin/sh\nexec '${bin}/node' '${npm}' "$@"\n`, { mode: 0o755 });
    // What npm has fetched before is not fetched again; all else is as on a new machine.
    const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
    this.env = {
      PATH: bin,
      HOME: home,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      npm_config_cache: cache,
      npm_config_prefer_offline: "true",
    };
  }

  /** A shell on a terminal of this machine, in the clone. */
  shell(): Shell {
    const line = `stty cols 240 rows 50; PS1='${PROMPT}' exec sh -i`;
    const child = spawn("/usr/bin/script", ["-qfec", line, "/dev/null"], { cwd: this.clone, env: this.env });
    return new Shell(new Terminal(child));
  }
}

/** A shell that a person types at. */
class Shell {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Types a line and gives what was printed until the shell asks for the next one; questions are answered with y. */
  async run(line: string, ...answers: readonly string[]): Promise<string> {
    const from = this.#terminal.seen.length;
    this.#terminal.type(`${line}\n`);
    for (const answer of answers) {
      await this.#terminal.sees(QUESTION);
      this.#terminal.type(answer);
    }
    await this.#terminal.sees(PROMPT);
    return this.#terminal.seen.slice(from);
  }

  /** Types a line to a program, and waits for words. */
  async tell(line: string, words: string): Promise<void> {
    this.#terminal.type(line);
    await this.#terminal.sees(words);
  }

  get seen(): string {
    return this.#terminal.seen;
  }

  sees(words: string): Promise<void> {
    return this.#terminal.sees(words);
  }

  hangUp(): Promise<void> {
    return this.#terminal.hangUp();
  }
}

const faults: string[] = [];

function compare(what: string, shown: readonly string[], printed: string): void {
  const missing = missingLines(shown, printed);
  const verdict = missing.length === 0 ? "as the README shows" : "NOT as the README shows";
  process.stdout.write(`${what}: ${verdict}\n`);
  if (missing.length > 0)
    faults.push([`${what}; the README has`, ...missing, "and this was printed:", printed].join("\n"));
}

function tell(what: string, figure: string): void {
  process.stdout.write(`${what}: ${figure}\n`);
}

const seconds = (from: number): string => `${((performance.now() - from) / 1000).toFixed(1)} s`;
const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;

function sizeOf(path: string): number {
  const stat = lstatSync(path);
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : stat.size;
}

/** The first run of a clone, the questions that are asked, and the conversation. */
async function firstRuns(shell: Shell, readme: Readme, began: number): Promise<void> {
  await shell.sees(PROMPT);
  const first = await shell.run(readme.find(/`(npm start -- "[^`]+")`/));
  tell("clone to first answer", seconds(began));
  compare("first run", readme.blockAfter("A first run"), first);
  await shell.run(readme.blockAfter("The command itself")[0] ?? "");
  const asked = readme.blockAfter("Whatever changes something");
  const task = asked.find((line) => line.startsWith("▸ "))?.slice(2) ?? "";
  compare("approval", asked, await shell.run(`vidro run '${task}'`, "y"));
  const talk = readme.blockAfter("is a conversation");
  await shell.tell("vidro\n", "› ");
  for (const line of talk.filter((one) => one.startsWith("› "))) {
    const from = shell.seen.length;
    await shell.tell(`${line.slice(2)}\n`, "\n› ");
    const answer = talk[talk.indexOf(line) + 1] ?? "";
    compare(`conversation, "${line.slice(2)}"`, [answer], shell.seen.slice(from));
  }
  await shell.tell("\u0004", PROMPT);
}

/** Says whether what was printed has what it should have. */
function expect(what: string, wanted: RegExp, printed: string): void {
  const isThere = wanted.test(printed);
  tell(what, isThere ? "answered" : "NOT answered");
  if (!isThere) faults.push(`${what}; there should be ${wanted}, and this was printed:\n${printed}`);
}

/** What the README shows for scripts: the answer alone on stdout, and a last line of JSON. */
async function offTerminal(shell: Shell, readme: Readme): Promise<void> {
  const [variable = "", last = "", shown = ""] = readme.blockAfter("Off a terminal");
  await shell.run(variable);
  expect(variable, /^\S+ [KMGT]iB of .* are free on /m, await shell.run('echo "$disk"'));
  const [, start = ""] = /^(\{"type":"result","event":"run\.finished",)/.exec(shown) ?? [];
  expect(last, new RegExp(`^${RegExp.escape(start)}.* are free on `, "m"), await shell.run(last));
}

/** The daemon of `npm start`, and each line of the README that is typed beside it. */
async function besideDaemon(machine: Machine, shell: Shell, readme: Readme): Promise<void> {
  // Other programs of this machine may have the usual ports.
  const settings = join(machine.env["HOME"] ?? "", ".local/state/vidro/config.json");
  writeFileSync(settings, '{ "port": 0, "southbound_port": 0 }', { mode: 0o600 });
  const daemon = machine.shell();
  try {
    await daemon.sees(PROMPT);
    await daemon.tell("npm start\n", "Vidro is up at ");
    await daemon.sees("Ctrl-C ends it");
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(daemon.seen) ?? [];
    expect("npm start", /^ +console: http:\S+#code=/m, daemon.seen);
    const [, link = ""] = /^ +console: (\S+)/m.exec(daemon.seen) ?? [];
    const began = performance.now();
    await approveOnPhone(link, 'run "echo phone >> phone.txt"');
    tell("link opened to first approval on a phone-sized page", seconds(began));
    expect("what was approved there", /^phone$/m, await shell.run("cat phone.txt"));
    await overWires(shell, readme, url);
    await joinHost(machine, shell, readme);
    await survive(shell, readme);
    await daemon.tell("\u0003", PROMPT);
  } finally {
    await daemon.hangUp();
  }
}

/** The lines for curl: each has an answer. */
async function overWires(shell: Shell, readme: Readme, url: string): Promise<void> {
  const [names = "", alias = "", ...lines] = readme.blockAfter("every client with a token for the run");
  await shell.run(names.replace(/URL=\S+/, `URL=${url}`));
  await shell.run(alias);
  for (const line of lines) {
    const typed = line.replace(/ +# .*$/, "");
    const printed = await shell.run(typed);
    const [, run] = /"(?:run_id|id)":"(run_[\w-]+)"/.exec(printed) ?? [];
    if (run !== undefined) await shell.run(`RUN=${run}`);
    expect(typed, /are free on|run_|"type":"end"|"bunny"/, printed);
  }
}

/** A client that is killed leaves its run, which goes on; the journal is whole. */
async function survive(shell: Shell, readme: Readme): Promise<void> {
  const [start = "", attach = "", audit = ""] = readme
    .blockAfter("## It survives")
    .map((line) => line.replace(/ {2,}#.*$/, ""));
  await shell.run(start.replace("sleep 5", "sleep 1").replace(/&$/, "> run.out &"));
  // Until its yes is given the run would wait for another one.
  await shell.run("until grep -q action.started run.out; do sleep 0.1; done; kill -9 $!");
  expect(attach, /ended with exit code 0/, await shell.run(attach));
  expect("its effect", /^1$/m, await shell.run("grep -c done notes.txt"));
  expect(audit, /whole|intact|ok/i, await shell.run(audit));
}

/** A host that has sh and curl alone joins by the line that is printed, and works. */
async function joinHost(machine: Machine, shell: Shell, readme: Readme): Promise<void> {
  const block = readme.blockAfter("A hand is what executes");
  const commands = block
    .filter((line) => line.startsWith("$ vidro "))
    .map((line) => line.slice(2).replace(/ {2,}#.*$/, ""));
  const invited = await shell.run(commands.find((line) => line.includes("hands invite")) ?? "");
  const [line = ""] = /^VIDRO_INVITATION=.*$/m.exec(invited) ?? [];
  const host = new BareHost(join(machine.folder, "host"), { programs: ["curl"] });
  const began = performance.now();
  const joined = await host.paste(line);
  tell("line pasted to first heartbeat", seconds(began));
  const shown = block.filter((one) => /^(?:✓|\d)/.test(one));
  compare("host", shown, `${joined.stdout}\n${joined.stderr}`);
  try {
    for (const command of commands.filter((one) => !one.includes("hands invite"))) {
      // The host has no sandbox, so that each command there would be asked about.
      const printed = await shell.run(command.replace(/^vidro (hands exec|run) /, "vidro $1 --yes "));
      tell(command, /Linux|are free on/.test(printed) ? "answered" : printed);
      if (!/Linux|are free on/.test(printed)) faults.push(`${command}\n${printed}`);
    }
  } finally {
    await host.paste("~/.local/bin/vidro-hand stop");
  }
}

/** The tutorial, each block as it is written, with the commands of the clone. */
async function followTutorial(machine: Machine): Promise<void> {
  const began = performance.now();
  const path = `${join(machine.clone, "packages/cli/bin")}:${machine.env["PATH"]}`;
  const person = await DocShell.set(join(machine.folder, "tutorial"), path);
  try {
    faults.push(...(await person.follow("docs/tutorial.md")));
  } finally {
    await person.end();
  }
  tell("the tutorial, typed at once", seconds(began));
}

/** How long the command takes to its first line, once all is set up. */
async function firstLine(machine: Machine): Promise<string> {
  const began = performance.now();
  const vidro = join(machine.clone, "packages/cli/bin/vidro");
  const child = spawn(vidro, ["run", "how much disk is free?"], { cwd: machine.clone, env: machine.env });
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), once(child.stderr, "data")]);
  const took = `${Math.round(performance.now() - began)} ms`;
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  await ended;
  return took;
}

const machine = new Machine();
let shell: Shell | undefined;
try {
  const began = performance.now();
  execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${ROOT}`, machine.clone]);
  const readme = new Readme(readFileSync(join(machine.clone, "README.md"), "utf8"));
  shell = machine.shell();
  await firstRuns(shell, readme, began);
  const modules = sizeOf(join(machine.clone, "node_modules"));
  tell("node_modules", mebibytes(modules));
  if (modules > MOST_MODULES_BYTES) faults.push(`node_modules has ${mebibytes(modules)}`);
  tell("vidro run, first line", await firstLine(machine));
  // The archive and the console of this repository are as new as the clone's: making them again would take as long as all the rest.
  cpSync(join(ROOT, "build"), join(machine.clone, "build"), { recursive: true });
  for (const path of globSync(`${machine.clone}/build/*`)) utimesSync(path, new Date(), new Date());
  cpSync(join(ROOT, "packages/console/dist"), join(machine.clone, "packages/console/dist"), { recursive: true });
  const [archive = ""] = globSync(`${machine.clone}/build/*.tar.gz`);
  tell("archive", mebibytes(existsSync(archive) ? statSync(archive).size : 0));
  await offTerminal(shell, readme);
  await besideDaemon(machine, shell, readme);
  await followTutorial(machine);
  tell("all of it", seconds(began));
} finally {
  await shell?.hangUp();
  rmSync(machine.folder, { recursive: true, force: true, maxRetries: 5 });
}
for (const fault of faults) process.stderr.write(`\n${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
