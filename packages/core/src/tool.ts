import type { FilePart } from "./file-part.ts";
import type { FaultReport } from "./fault.ts";
import type { HelperUse } from "./parent-link.ts";
import { isObject } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

/** What an action may do to the world, in growing order of harm. */
export type ActionClass = "read" | "write" | "code-exec" | "network" | "privileged" | "destructive";

/** The effects that a tool may have. */
export const TOOL_EFFECTS = ["read", "write", "network", "execute"] as const;

/** The strongest effect of a tool; `write` when a tool does not declare one. */
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

/** Description of a tool, as the model gets it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly parameters: JsonObject;
  /** Whether running it twice has the same effect as running it once. */
  readonly idempotent: boolean;
  /** Its strongest effect; `write` when absent. */
  readonly effect?: ToolEffect;
  /** A tool of one host only; its description and schema come from that host. */
  readonly own?: true;
  /** The client that started the run carries it out; no hand has it. */
  readonly caller?: true;
  /** Whether that client wants the model's server to hold each input to the schema; the server's own choice when absent. */
  readonly strict?: boolean;
  /** How that client names it, where that is not the plain function `name`. */
  readonly called?: CallerName;
  /** An approved proposal of the model: the argv that runs when the tool is used, `{name}` standing for an input. */
  readonly argv?: readonly string[];
}

/** A client's own name of its tool: model servers take fewer names than clients use. */
export type CallerName = {
  readonly name: string;
  readonly namespace?: string;
  /** The tool takes free text, which is the field `input` of the model's call. */
  readonly custom?: true;
};

/** A tool call of the model. It is carried out at most once under its id. */
export interface Action {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** The model's id of the call; it only pairs call and outcome in the prompt. */
  readonly callId: string;
}

/**
 * Exactly what would happen, frozen: policy judges this, a person approves its hash, and this is what runs.
 */
export type Plan = ProcessPlan | ShellPlan | FilePlan | FilesPlan | FetchPlan | FactsPlan | OrderPlan;

/** A program with its arguments; no shell is involved. */
export interface ProcessPlan {
  readonly kind: "process";
  /** Absolute path of the program after PATH lookup and symlinks. */
  readonly program: string;
  /** The program as it was asked for, and its arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment that the process gets. */
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  /** sha256 of each file whose content decides what happens: a script, a Makefile, a module. */
  readonly digests: { readonly [path: string]: string };
  /** Programs and scripts that may load or run files which are not in `digests`. */
  readonly unseen?: readonly string[];
  /** Confinement by a sandbox; when absent, the program runs without one. */
  readonly confined?: Confinement;
  /** Access of an unconfined program to Vidro's own state; absent from hands of earlier versions. */
  readonly state?: StateAccess;
  /** It goes on in the background after its action, for `timeoutMs` at most. */
  readonly background?: BackgroundTerms;
}

/** How a program works in the background. */
export type BackgroundTerms = {
  /** It outlives its run; else it ends with it. */
  readonly keep?: true;
  /** The plan is to write to the program, which runs already under this action: this text. */
  readonly process?: string;
  readonly input?: string;
};

/**
 * Access to Vidro's own state on a host: identities, keys, policies, ledgers, journals. `hidden`: the program sees an
 * empty folder instead. `open`: the program can read and change it.
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
  /** Whether a sandbox enforces that access; without a sandbox the shell has the access of the host's user. */
  readonly sandboxed: boolean;
  /** sha256 of each file that the line names and may run. */
  readonly digests?: { readonly [path: string]: string };
  /** Programs and scripts that may load or run files which are not in `digests`. */
  readonly unseen?: readonly string[];
  /** Access of an unconfined line to Vidro's own state; absent from hands of earlier versions. */
  readonly state?: StateAccess;
  /** It goes on in the background after its action, for `timeoutMs` at most. */
  readonly background?: BackgroundTerms;
}

/** One operation on one path. */
export type FilePlan = {
  readonly kind: "file";
  readonly operation: "read" | "write";
  /** Absolute, with symlinks resolved as far as the path exists. */
  readonly path: string;
  /** Whether the path lies in the workspace. */
  readonly inWorkspace: boolean;
  /** sha256 of the input that decides the new content. */
  readonly digest?: string;
};

/** A change of several files that is made as a whole or not at all. */
export interface FilesPlan {
  readonly kind: "files";
  /** Each file once; a policy judges each, and the strictest verdict counts for all. */
  readonly files: readonly FilePlan[];
  /**
   * The change as unified diffs, for a person, where the input of the action does not hold it. It follows from the
   * digests of the files, so that the hash of the plan leaves it out.
   */
  readonly patch?: string;
}

/** A page that a tool fetches by a GET request without credentials. */
export interface FetchPlan {
  readonly kind: "fetch";
  /** Address after parsing, without a fragment. */
  readonly url: string;
  /** `public`: only addresses of the public internet are connected to. `any`: the policy names the host as private. */
  readonly reach: "public" | "any";
}

/** Facts about the machine that a tool reads by itself. */
export interface FactsPlan {
  readonly kind: "facts";
  readonly facts: string;
}

/** Tool and input as ordered: for tools whose effect the hand cannot foresee, and hands that report no plan of their own. */
export interface OrderPlan {
  readonly kind: "order";
  readonly tool: string;
  readonly input: JsonObject;
  /** sha256 of the definition that a mounted server gives of the tool; absent for tools of other kinds. */
  readonly definition?: string;
  /** The server has changed the definition since a person or the hand's first sight accepted it. */
  readonly changed?: true;
  /** Ids of the helpers that a `delegate` action starts, in the order of its tasks. */
  readonly runs?: readonly string[];
}

/** The decision of a policy on a plan. */
export interface Verdict {
  readonly decision: "allow" | "ask" | "deny";
  /** The rule that decided. */
  readonly rule: string;
  readonly class: ActionClass;
  readonly reason: string;
  /** Confinement that an allowed program must run under. */
  readonly confined?: Confinement;
}

/** A hand's judgement of an action: the frozen plan, its hash, and the verdict of the hand's policy. */
export interface Judgement {
  readonly plan: Plan;
  /** sha256 of the canonical plan and the version of the policy; an approval is valid only for both together. */
  readonly hash: string;
  readonly verdict: Verdict;
  /** Version (hash) of the policy that judged. */
  readonly policy: string;
  /** Mark of the hand's ledger; absent when the hand does not report one. */
  readonly ledger?: string;
  /** The narrowest rule that would allow the plan; set when the verdict is to ask and the policy can be added to. */
  readonly always?: JsonObject;
}

/** One output stream of a process: its beginning and end, its size and its hash. */
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
  /** Name of the spool file on the hand with the whole output; set when the outcome is truncated. */
  readonly spool?: string;
}

/** Outcome of a tool that starts no process: text for the model, and the same as data for programs. */
export interface ValueOutcome {
  readonly kind: "value";
  readonly text: string;
  readonly data?: Json;
  /** Files for a model that can see them. */
  readonly files?: readonly FilePart[];
}

/** The outcome of an action that was carried out. */
export type Outcome = ProcessOutcome | ValueOutcome;

/** A hand's signature over the outcome of an action in its ledger. */
export interface Receipt {
  readonly run: string;
  readonly action: string;
  /** Hash of the plan that was carried out; empty when the hand restarted meanwhile and no longer knows it. */
  readonly plan: string;
  /** SHA-256 of the facts of the end, and of its words. */
  readonly outcome: string;
  readonly words: string;
  /** When it ended by the clock of the host, in milliseconds since the epoch. */
  readonly at: number;
  /** Mark of the hand's ledger. */
  readonly ledger: string;
  /** The public key, and the signature by Ed25519, in hexadecimal digits. */
  readonly key: string;
  readonly signature: string;
}

/** How an order ended, with the receipt of a hand that signs. */
export type ActionEnd = BareActionEnd & { readonly receipt?: Receipt };

type BareActionEnd =
  | { readonly type: "finished"; readonly outcome: Outcome; readonly used?: HelperUse }
  | {
      readonly type: "failed";
      readonly fault: FaultReport;
      /**
       * The failure is the end of the action, also of earlier orders: it is in the hand's ledger, or the ledger has
       * nothing under that id, or there was no other order. When absent, only this order is known to have done nothing.
       */
      readonly settled?: true;
    }
  | { readonly type: "unknown"; readonly fault: FaultReport; readonly partial?: string };

/** The text of an outcome for the model. */
export function outcomeText(outcome: Outcome): string {
  if (outcome.kind === "value") return outcome.text;
  const parts = [outcome.stdout.text];
  if (outcome.stderr.bytes > 0) parts.push(`[stderr]\n${outcome.stderr.text}`);
  if (outcome.timedOut) parts.push(`[timed out after ${outcome.durationMs} ms]`);
  if (outcome.signal !== null) parts.push(`[ended by ${outcome.signal}]`);
  else if (outcome.exitCode !== 0) parts.push(`[exit code ${outcome.exitCode}]`);
  return parts.filter((part) => part !== "").join("\n");
}

/** The answer of an action for the model. */
export interface ActionAnswer {
  readonly text: string;
  readonly failed: boolean;
  readonly files?: readonly FilePart[];
}

/** An outcome as the answer for the model. */
export function answerOfOutcome(outcome: Outcome): ActionAnswer {
  const files = outcome.kind === "value" ? outcome.files : undefined;
  return { text: outcomeText(outcome), failed: false, ...(files === undefined ? {} : { files }) };
}

/** The action for the hand: a call of an approved proposed tool becomes the command that the tool stands for. */
export function handAction(action: Action, tools: readonly ToolSpec[]): Action {
  const argv = tools.find((tool) => tool.name === action.tool)?.argv;
  if (argv === undefined) return action;
  const fill = (word: string): string =>
    word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value = action.input[name];
      if (value === undefined) return whole;
      return typeof value === "string" ? value : JSON.stringify(value);
    });
  // Each argument stays one argument whatever the input holds: no shell is involved.
  const [command = "", ...args] = argv.map((word) => fill(word));
  return { ...action, tool: "command", input: { command, args, ...handFieldOf(action, tools) } };
}

/** The `hand` field of the command, for runs on several hands. */
function handFieldOf({ input: { hand } }: Action, tools: readonly ToolSpec[]): JsonObject {
  const fields = tools.find((tool) => tool.name === "command")?.parameters["properties"];
  return hand !== undefined && isObject(fields) && "hand" in fields ? { hand } : {};
}
