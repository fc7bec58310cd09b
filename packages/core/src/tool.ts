import type { FaultReport } from "./fault.ts";
import { isObject } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

/** What an action may do to the world, in growing order of harm. */
export type ActionClass = "read" | "write" | "code-exec" | "network" | "privileged" | "destructive";

/** The effects that a tool may have. */
export const TOOL_EFFECTS = ["read", "write", "network", "execute"] as const;

/** What a tool does to the world, at most; one that does not say it may write. */
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

/** What the model is told of a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly parameters: JsonObject;
  /** Whether running it twice under one id is the same as running it once. */
  readonly idempotent: boolean;
  /** What it does to the world; `write` when it is left out. */
  readonly effect?: ToolEffect;
  /** Only its host has it, and all that is said of it are words of that host. */
  readonly own?: true;
  /** Whoever started the run carries it out, and no hand knows of it. */
  readonly caller?: true;
  /** An approved proposal of the model: the argv that runs when the tool is used, `{name}` standing for an input. */
  readonly argv?: readonly string[];
}

/** One thing that the model wants done: its id is the key under which it is done at most once. */
export interface Action {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** The model's own name for the call; it pairs question and answer in the prompt and means nothing else. */
  readonly callId: string;
}

/**
 * Exactly what would happen, frozen: policy judges this, a person approves its hash, and this is what runs.
 */
export type Plan = ProcessPlan | ShellPlan | FilePlan | FactsPlan | OrderPlan;

/** A program with its arguments; no shell is involved. */
export interface ProcessPlan {
  readonly kind: "process";
  /** Absolute path of the program after PATH lookup and symlinks. */
  readonly program: string;
  /** The word that was asked for, and its arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment that the process gets. */
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  /** sha256 of each file whose content decides what happens: a script, a Makefile, a module. */
  readonly digests: { readonly [path: string]: string };
  /** Programs and scripts that may load, include or run more than those files. */
  readonly unseen?: readonly string[];
  /** How a sandbox holds it, whatever its paths lead to and its files tell it to run; nothing holds it when left out. */
  readonly confined?: Confinement;
  /** What a program that nothing else holds finds where Vidro's own state is; left out by hands of earlier versions. */
  readonly state?: StateAccess;
}

/**
 * Vidro's own state on a host is that of its hands and brains: identities, keys, policies, ledgers, journals. `hidden`
 * means that the program finds an empty folder there; `open` means that nothing keeps the program from it.
 */
export type StateAccess = "hidden" | "open";

/**
 * How a sandbox holds a program: `files` sees the workspace and the system's own folders and changes nothing; `facts`
 * sees the mounts, processes and network of the host and changes nothing; `workspace` is `files`, and may change the
 * workspace; `network` is `workspace`, and may talk to other hosts.
 */
export type Confinement = "files" | "facts" | "workspace" | "network";

/**
 * How far a shell reaches: read = nothing can be written, no network; workspace = only the workspace; host = as the
 * user, without Vidro's own state and without the rights of other users; all = whatever the user may do.
 */
export type ShellAccess = "read" | "workspace" | "host" | "all";

/** A line for the shell. */
export interface ShellPlan {
  readonly kind: "shell";
  readonly command: string;
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly access: ShellAccess;
  /** Whether a sandbox holds the shell to that access; without one, any access is the host's. */
  readonly sandboxed: boolean;
  /** sha256 of each file that the line may run, as far as its words tell. */
  readonly digests?: { readonly [path: string]: string };
  /** Programs and scripts that may load, include or run more than those files. */
  readonly unseen?: readonly string[];
  /** What a line that nothing else holds finds where Vidro's own state is; left out by hands of earlier versions. */
  readonly state?: StateAccess;
}

/** One operation on one path. */
export interface FilePlan {
  readonly kind: "file";
  readonly operation: "read" | "write";
  /** Absolute, with symlinks resolved as far as the path exists. */
  readonly path: string;
  /** Whether the path lies in the workspace. */
  readonly inWorkspace: boolean;
  /** sha256 of the input that decides the new content. */
  readonly digest?: string;
}

/** Facts about the machine that a tool reads by itself. */
export interface FactsPlan {
  readonly kind: "facts";
  readonly facts: string;
}

/** The order itself, of a hand that does not say what it would make of it. */
export interface OrderPlan {
  readonly kind: "order";
  readonly tool: string;
  readonly input: JsonObject;
}

/** What policy says of a plan. */
export interface Verdict {
  readonly decision: "allow" | "ask" | "deny";
  /** The rule that decided. */
  readonly rule: string;
  readonly class: ActionClass;
  readonly reason: string;
  /** How a program that is allowed has to be held. */
  readonly confined?: Confinement;
}

/** A hand's judgement of an action: the frozen plan, its hash, and the verdict of the hand's policy. */
export interface Judgement {
  readonly plan: Plan;
  /** sha256 of the canonical plan and the version of the policy: an approval is good for both or for neither. */
  readonly hash: string;
  readonly verdict: Verdict;
  /** Version (hash) of the policy that judged. */
  readonly policy: string;
  /** Where the hand's ledger stood; left out by a hand that does not say so. */
  readonly ledger?: string;
}

/** One output stream of a process: its beginning and end, and how much there was. */
export interface Output {
  /** Head, and tail behind a marker when the middle was left out. */
  readonly text: string;
  readonly bytes: number;
  readonly truncated: boolean;
  /** sha256 of all the bytes. */
  readonly sha256: string;
}

/** How a process ended. */
export interface ProcessOutcome {
  readonly kind: "process";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Name of the file on the hand that holds the whole output, when the outcome does not. */
  readonly spool?: string;
}

/** What a tool that is no process gives: words for the model, and the same as data where programs want it. */
export interface ValueOutcome {
  readonly kind: "value";
  readonly text: string;
  readonly data?: Json;
}

/** What came of an action. */
export type Outcome = ProcessOutcome | ValueOutcome;

/** What a hand with a key of its own signs when an action has ended and that is in its ledger. */
export interface Receipt {
  readonly run: string;
  readonly action: string;
  /** Hash of the plan that was carried out; empty when the hand was stopped meanwhile and does not know it any more. */
  readonly plan: string;
  /** SHA-256 of the facts of the end, and of its words. */
  readonly outcome: string;
  readonly words: string;
  /** When it ended by the clock of the host, in milliseconds since the epoch. */
  readonly at: number;
  /** Where the hand's ledger stood. */
  readonly ledger: string;
  /** The public key, and the signature by Ed25519, in hexadecimal digits. */
  readonly key: string;
  readonly signature: string;
}

/** What came of an action, or why nothing did; with the receipt of a hand that signs. */
export type ActionEnd = BareActionEnd & { readonly receipt?: Receipt };

type BareActionEnd =
  | { readonly type: "finished"; readonly outcome: Outcome }
  | {
      readonly type: "failed";
      readonly fault: FaultReport;
      /**
       * It is the end of the action, whatever was ordered before: the hand's ledger has it, or has nothing under that
       * id, so that nothing ever began; or the hand never got another order. Without it only this order did nothing.
       */
      readonly settled?: true;
    }
  | { readonly type: "unknown"; readonly fault: FaultReport; readonly partial?: string };

/** An outcome as the model reads it. */
export function outcomeText(outcome: Outcome): string {
  if (outcome.kind === "value") return outcome.text;
  const parts = [outcome.stdout.text];
  if (outcome.stderr.bytes > 0) parts.push(`[stderr]\n${outcome.stderr.text}`);
  if (outcome.timedOut) parts.push(`[timed out after ${outcome.durationMs} ms]`);
  if (outcome.signal !== null) parts.push(`[ended by ${outcome.signal}]`);
  else if (outcome.exitCode !== 0) parts.push(`[exit code ${outcome.exitCode}]`);
  return parts.filter((part) => part !== "").join("\n");
}

/** The action that a hand carries out: a tool that was proposed by the model becomes the command it stands for. */
export function handAction(action: Action, tools: readonly ToolSpec[]): Action {
  const argv = tools.find((tool) => tool.name === action.tool)?.argv;
  if (argv === undefined) return action;
  const fill = (word: string): string =>
    word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value = action.input[name];
      if (value === undefined) return whole;
      return typeof value === "string" ? value : JSON.stringify(value);
    });
  // Each word stays one word whatever the input holds: there is no shell between the template and the program.
  const [command = "", ...args] = argv.map((word) => fill(word));
  return { ...action, tool: "command", input: { command, args, ...handFieldOf(action, tools) } };
}

/** Where a run with several hands wants it done: its commands have a field for that. */
function handFieldOf({ input: { hand } }: Action, tools: readonly ToolSpec[]): JsonObject {
  const fields = tools.find((tool) => tool.name === "command")?.parameters["properties"];
  return hand !== undefined && isObject(fields) && "hand" in fields ? { hand } : {};
}
