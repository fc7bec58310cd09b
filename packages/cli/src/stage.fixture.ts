import type { DatabaseSync } from "node:sqlite";
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { bundledCommands } from "../../../scripts/test-bundle.js";
import { storeSettings } from "../../../tests/support/store-settings.ts";

/** Where compiled code is kept when a test is run by itself. */
const COMPILED = fileURLToPath(new URL("../../../node_modules/.cache/compile", import.meta.url));
const COMMAND = [
  process.execPath,
  "--conditions=vidro-source",
  "--disable-warning=ExperimentalWarning",
  "--enable-source-maps",
  bundledCommands().vidro,
];

/** Exit code and output of a command that has ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary home and workspace to run the command in; disposing it kills the command and removes both. */
export class Stage implements AsyncDisposable {
  readonly home: string;
  readonly workspace: string;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #terminals = 0;
  readonly #children = new Set<ChildProcessWithoutNullStreams>();

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.home = join(folder, "state");
    this.workspace = join(folder, "workspace");
    const { PATH, NODE_COMPILE_CACHE = COMPILED } = process.env;
    this.#env = {
      PATH,
      NODE_COMPILE_CACHE,
      HOME: folder,
      VIDRO_HOME: this.home,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      VIDRO_MODEL: "offline",
      ...storeSettings(env["VIDRO_HOME"] ?? this.home),
      ...env,
    };
  }

  static async set(env: NodeJS.ProcessEnv = {}): Promise<Stage> {
    const stage = new Stage(await mkdtemp(join(tmpdir(), "vidro-cli-")), env);
    await mkdir(stage.workspace);
    return stage;
  }

  /** Argument vector and environment of the command, for tests that start it by other means. */
  get command(): { readonly argv: readonly string[]; readonly env: NodeJS.ProcessEnv } {
    return { argv: COMMAND, env: this.#env };
  }

  /** Starts the command without a terminal. */
  start(...args: readonly string[]): ChildProcessWithoutNullStreams {
    return this.#spawn([...COMMAND, ...args]);
  }

  /** Runs the command without a terminal to its end. */
  async run(...args: readonly string[]): Promise<Ended> {
    const child = this.start(...args);
    child.stdin.end();
    return ended(child);
  }

  /** Waits until there is a file of that name in the workspace. */
  async holds(name: string): Promise<void> {
    while (!existsSync(join(this.workspace, name))) await new Promise(setImmediate);
  }

  /** Starts the command on a terminal of 100 columns and 30 rows. */
  terminal(...args: readonly string[]): Terminal {
    return this.terminalOf(100, ...args);
  }

  /** Starts the command on a terminal of that width. */
  terminalOf(columns: number, ...args: readonly string[]): Terminal {
    const line = [...COMMAND, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
    const device = join(this.#folder, `tty-${(this.#terminals += 1)}`);
    const begin = `tty > '${device}'; stty cols ${columns} rows 30; exec ${line}`;
    return new Terminal(this.#spawn(["script", "-qfec", begin, "/dev/null"]), device);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #spawn([program = "", ...args]: readonly string[]): ChildProcessWithoutNullStreams {
    const child = spawn(program, args, { cwd: this.workspace, env: this.#env });
    child.stdin.on("error", () => undefined);
    this.#children.add(child);
    child.on("exit", () => this.#children.delete(child));
    return child;
  }
}

/** Waits for a command to end and gives its exit code and output. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number | null, stdout, stderr };
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** A command on a pseudo-terminal: the test reads its screen and types keys. */
export class Terminal {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<number | null>;
  /** The file with the name of its device. */
  readonly #device: string;
  #seen = "";
  /** `sees` searches from this position on. */
  #from = 0;
  #look: (() => void) | undefined;
  /** How the command ended, once everything that it wrote was read. */
  #end: string | undefined;

  constructor(child: ChildProcessWithoutNullStreams, device = "") {
    this.#child = child;
    this.#device = device;
    this.#closed = once(child, "close").then(([code]) => code as number | null);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      this.#seen += chunk;
      this.#look?.();
    });
    child.on("close", (code, signal) => {
      this.#end = signal ?? `exit code ${code}`;
      this.#look?.();
    });
  }

  /** Everything that was written to the terminal, as it was written. */
  get raw(): string {
    return this.#seen;
  }

  /** Everything that was written to the terminal, without its colours and movements. */
  get seen(): string {
    return stripVTControlCharacters(this.#seen).replaceAll("\r", "");
  }

  /** Waits until the words are there, after those that were waited for before. */
  async sees(words: string): Promise<void> {
    for (;;) {
      const at = this.seen.indexOf(words, this.#from);
      if (at !== -1) {
        this.#from = at + words.length;
        return;
      }
      if (this.#end !== undefined)
        throw new Error(`The command ended (${this.#end}) without ${JSON.stringify(words)}:\n${this.seen}`);
      await new Promise<void>((resolve) => (this.#look = resolve));
    }
  }

  /** Types keys. */
  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Makes the terminal as wide as that. */
  resize(columns: number): void {
    execFileSync("stty", ["-F", readFileSync(this.#device, "utf8").trim(), "cols", `${columns}`]);
  }

  /** Kills the terminal. */
  async hangUp(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  /** Waits for the end and gives the exit code. */
  async ends(): Promise<number | null> {
    return this.#closed;
  }
}

/** A line of NDJSON; fields that only some lines have are unknown. */
export interface Line {
  readonly [field: string]: unknown;
  readonly body: { readonly [field: string]: unknown };
}

/** The lines of NDJSON in a text. */
export function lines(text: string): readonly Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** The whole text of a stored entry: its large texts lie in a table of their own. */
export function wholeBody(database: DatabaseSync, stored: unknown): string {
  const text = database.prepare("SELECT text FROM part WHERE hash = unhex(?)");
  const pieces = String(stored).split("\u0001");
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : String(text.get(piece)?.["text"]))).join("");
}
