import { isStopWord } from "./words.ts";
import { plainWords } from "./tokens.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Programs that are a whole command by themselves and no word of a question. */
const ALONE = words(
  "df free ls pwd whoami id uname hostname lscpu lsblk nproc mount w who groups arch dmesg tree lsmod lspci lsusb vmstat printenv",
);

/** Programs, and the words that follow them in a command. */
const SUBCOMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: "status log diff show branch tag remote stash blame add commit push pull fetch merge rebase checkout switch reset restore clone init config describe shortlog reflog rev-parse ls-files cherry-pick revert",
    npm: "test install run ci start ls list outdated audit view init publish build pack",
    pnpm: "test install run start add",
    yarn: "test install run start add",
    docker:
      "ps images logs run exec build pull push stop start restart rm inspect stats version info compose network volume",
    podman: "ps images logs run exec build pull stop start rm",
    systemctl:
      "status start stop restart reload enable disable list-units list-timers is-active is-enabled daemon-reload",
    apt: "install update upgrade list search show remove",
    "apt-get": "install update upgrade remove",
    cargo: "test build run check add fmt clippy",
    go: "test build run mod version vet fmt",
    pip: "install list show freeze uninstall",
    pip3: "install list show freeze uninstall",
    ps: "aux ax auxf auxww axjf -ef",
    ip: "a addr address route r link neigh",
    kubectl: "get describe logs apply delete exec",
    make: "test build all clean install check",
    brew: "install list update",
  }).map(([program, text]) => [program, words(text)]),
);

/** Programs that take names of files or the like, where nothing else is meant by `head a.txt`. */
const WITH_OPERANDS = words(
  "ls du wc head tail stat tree whereis sha256sum md5sum diff sort uniq basename dirname realpath node python3 python bash sh npx curl wget ssh chmod chown ln tar zip unzip echo printf sleep less df id jq sed awk cut xargs cd export seq true false",
);

/** Programs that are words of a question, too; an option makes them a command. */
const WITH_OPTIONS = words(
  "cat ps top free find grep rg mkdir touch rm mv cp kill pkill date uptime last ping ss ip journalctl crontab env test time tee host dig nslookup traceroute file lsof netstat ifconfig iostat nvidia-smi uname gcc cc rustc vim nano",
);

/** What is asked about a program by one word behind it. */
const QUESTIONED = words("version installed running processes");

const OPTION = /^(-[A-Za-z0-9]|--[a-z])/;
const OPERATOR = /\s(\||\|\||&&|>|>>|<|2>&1)\s|\|\s*\w+\s|;\s*\w+/;

/** The command line that a task is, as a person would type it into a shell; undefined when it is a sentence. */
export function commandLineIn(task: string): string | undefined {
  const line = task.trim();
  if (/[?¿¡]|\n/.test(line) && !/\*|\$\?/.test(line)) return undefined;
  const [program = "", ...rest] = line.split(/\s+/);
  // A sentence has commas behind its words; a command line has none there: "tail app.log, 5 lines".
  if (rest.some((word) => /^[^"'`{]*,$/.test(word))) return undefined;
  const isScript = /^(\.{0,2}\/|~\/)[\w./-]+$/.test(program) && rest.some((word) => OPTION.test(word));
  return isScript || isCommand(program, rest, line) ? line : undefined;
}

function isCommand(program: string, rest: readonly string[], line: string): boolean {
  const second = SUBCOMMANDS.get(program);
  const isProgram =
    second !== undefined || ALONE.has(program) || WITH_OPERANDS.has(program) || WITH_OPTIONS.has(program);
  if (!isProgram) return false;
  if (rest.length === 0) return ALONE.has(program);
  if (rest.some((word) => OPTION.test(word)) || OPERATOR.test(line)) return true;
  const isSpoken = rest.some((word) => isStopWord(plainWords(word)));
  if (second !== undefined && second.has(rest[0] ?? "")) return !isSpoken;
  // "python version" asks, and names no file.
  const isAsked = rest.length === 1 && QUESTIONED.has(rest[0] ?? "");
  return WITH_OPERANDS.has(program) && !isSpoken && !isAsked && !/[,.]$/.test(line);
}

/** How a command line is carried out: as a program with arguments, or by a shell where it needs one. */
type CommandLine =
  | { readonly by: "program"; readonly program: string; readonly args: readonly string[] }
  | { readonly by: "shell"; readonly line: string };

const SHELL_SIGNS = /[|<>&;$`*?~\n\r()[\]{}!#\\]/;
const SHELL_WORDS = words(
  "cd export source . alias unalias set unset ulimit umask eval exec type trap if for while until case",
);

/** Reads a command line: plain words and simple quotes are a program's, anything else is the shell's. */
export function readCommand(line: string): CommandLine {
  const pieces = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const isPlain = !SHELL_SIGNS.test(line) && pieces.join(" ") === line.trim().split(/\s+/).join(" ");
  const [program = "", ...args] = pieces.map((piece) => piece.replace(/^(["'])(.*)\1$/s, "$2"));
  if (!isPlain || program === "" || program.includes("=") || SHELL_WORDS.has(program)) return { by: "shell", line };
  return { by: "program", program, args };
}
