import type { HandRecord } from "@vidro/client";
import { REGISTER_LIMITS } from "@vidro/core";
import { approvalAsked, approvalRows, oneLine, outcomeWords } from "@vidro/core/text";
import type { Entry, Output, ProcessOutcome, QuestionAsked } from "@vidro/core";
import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { Execution } from "./execution.ts";
import type { ExecutionResult, ExecutionOptions } from "./execution.ts";
import { requireFolder } from "../../program/require-folder.ts";
import { onInterrupt } from "../../view/interrupts.ts";
import type { LeaveReason } from "../../view/interrupts.ts";
import { paint } from "../../view/symbols.ts";
import { absentAnswerer, personAnswerer, yesAnswerer } from "../../view/questions.ts";
import { indentText, passOutput, print, say, sayFault, writeJson } from "../../program/output.ts";
import type { BrainRuns } from "../../brain-api/brain-api.ts";

/** What `vidro hands exec` may be told. */
interface ExecFlags extends BrainFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

const NAME_CHARS = 60;
const FACT_CHARS = 9;
/** No line of a text passes for a row. */
const FACT_MARGIN = FACT_CHARS + 3;
const HOW_TO_APPROVE = "It has to be approved: do it on a terminal, or with --yes.";

/** Carries out one command on each hand that is meant, each as a run of its own; the exit code is that of the worst. */
export async function exec(on: string, argv: readonly string[], flags: ExecFlags): Promise<number> {
  return withBrainApi(flags, async ({ runs, hands: register }) => {
    const hands = await register.list({ select: on });
    const way: Way = hands.length > 1 ? "each" : "stream";
    const ask = questions(flags);
    const jobs = hands.map((hand): HandExecution => {
      const heard = new Heard(flags.json === true ? "line" : way);
      const order = { runs, hand, argv, workspace: requireFolder("."), hear: (event: Said) => heard.take(event) };
      return { hand, heard, execution: new Execution({ ...order, answer: ask(hand) }) };
    });
    const interrupts = new Interrupts(runs, jobs);
    const deaf = onInterrupt(interrupts);
    try {
      const worst = await worstOf(jobs, interrupts);
      return interrupts.exit ?? worst;
    } finally {
      deaf();
    }
  });
}

/** How it is told: as it comes, host by host, or as a line of JSON for each. */
type Way = "stream" | "each" | "line";

interface Said {
  readonly stream: "stdout" | "stderr";
  readonly chunk: string;
  readonly from?: number;
}

interface HandExecution {
  readonly hand: HandRecord;
  readonly heard: Heard;
  readonly execution: Execution;
}

async function worstOf(jobs: readonly HandExecution[], interrupts: Interrupts): Promise<number> {
  const queue = [...jobs];
  let worst = 0;
  const work = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined && interrupts.exit === undefined; job = queue.shift()) {
      const executed = await job.execution.carryOut();
      if (interrupts.exit === undefined) job.heard.tell(job.hand, executed);
      worst = Math.max(worst, executed.exit);
    }
  };
  await Promise.all(Array.from({ length: Math.min(REGISTER_LIMITS.atOnce, jobs.length) }, work));
  return worst;
}

/** Passes Ctrl-C on to every command: the first ends them, the second leaves them. */
class Interrupts {
  readonly #runs: BrainRuns;
  readonly #executions: readonly { readonly execution: Execution }[];
  exit: number | undefined;

  constructor(runs: BrainRuns, executions: readonly { readonly execution: Execution }[]) {
    this.#runs = runs;
    this.#executions = executions;
  }

  abort(): void {
    say("Ending the command. Ctrl-C again leaves it instead.");
    for (const { execution } of this.#executions) execution.abort("Ctrl-C").catch(() => execution.leave());
  }

  leave({ exit }: LeaveReason): void {
    this.exit = exit;
    for (const { execution } of this.#executions) execution.leave();
    void this.#runs.detach();
  }
}

/** What a command says, and how it is told. */
class Heard {
  readonly #way: Way;
  readonly #heard = { stdout: "", stderr: "" };
  /** How much of each stream was passed on: all of it from its beginning, without a gap. */
  readonly #passed = { stdout: 0, stderr: 0 };

  constructor(way: Way) {
    this.#way = way;
  }

  /** Passes on what comes in its place; from the first gap on, the end has to tell the rest. */
  take({ stream, chunk, from }: Said): void {
    if (this.#way !== "stream" || from !== this.#passed[stream]) return;
    this.#heard[stream] = (this.#heard[stream] + chunk).slice(0, KEPT_CHARS);
    this.#passed[stream] += chunk.length;
    passOutput(stream, chunk);
  }

  tell(hand: HandRecord, executed: ExecutionResult): void {
    const { outcome, fault, run } = executed;
    if (this.#way === "line") return writeJson(lineOf(hand, executed));
    if (this.#way === "each") print(heading(hand, outcome));
    if (fault !== undefined) return sayFault(fault, fault.code === "APPROVAL_DENIED" ? HOW_TO_APPROVE : undefined);
    for (const stream of ["stdout", "stderr"] as const) {
      const output = outcome?.[stream];
      if (output === undefined) continue;
      if (this.#way === "each") passOutput(stream, ended(output.text));
      else this.#rest(stream, output, run);
    }
  }

  /** Passes on what was not told while it ran; says so when some of it is nowhere to be had. */
  #rest(stream: Said["stream"], { text, bytes }: Output, run: string): void {
    const heard = this.#heard[stream];
    if (text.startsWith(heard)) return passOutput(stream, text.slice(heard.length));
    const passed = this.#passed[stream];
    if (passed < bytes)
      say(`vidro: only ${passed} of ${bytes} bytes of ${stream} came; what is kept of it: vidro runs show ${run}`);
  }
}

/** What is remembered of a stream to compare it with what the journal has. */
const KEPT_CHARS = 256 * 1024;

function heading({ name }: HandRecord, outcome: ProcessOutcome | undefined): string {
  const words = outcome === undefined ? "" : paint("dim", ` · ${outcomeWords(outcome)}`);
  return `${paint("bold", oneLine(name, NAME_CHARS))}${words}`;
}

/** What one host says begins on a line of its own. */
function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function lineOf(hand: HandRecord, { run, exit, outcome, fault }: ExecutionResult): object {
  return {
    hand: hand.id,
    name: hand.name,
    run_id: run,
    exit_code: exit,
    ...(outcome === undefined
      ? {}
      : {
          stdout: outcome.stdout.text,
          stderr: outcome.stderr.text,
          signal: outcome.signal,
          timed_out: outcome.timedOut,
          truncated: outcome.stdout.truncated || outcome.stderr.truncated,
          duration_ms: outcome.durationMs,
        }),
    ...(fault === undefined ? {} : { error: fault }),
  };
}

/** Answers questions of the commands, one at a time: a person has one keyboard. */
function questions({ yes, json }: ExecFlags): (hand: HandRecord) => ExecutionOptions["answer"] {
  const isThere = json !== true && process.stdin.isTTY && process.stdout.isTTY;
  const answerer = yes === true ? yesAnswerer : isThere ? personAnswerer : absentAnswerer;
  let before: Promise<unknown> = Promise.resolve();
  return (hand) => (question, entries, signal) => {
    const answered = before.then(async () => {
      await answerer.ready();
      if (isThere && answerer === personAnswerer) show(hand, question, entries);
      return answerer.answer(question, signal);
    });
    before = answered.catch(() => undefined);
    return answered;
  };
}

/** Shows what a person is to decide. */
function show({ name }: HandRecord, question: QuestionAsked, entries: readonly Entry[]): void {
  const judged = entries.findLast(({ event }) => event.type === "policy.judged")?.event;
  if (judged?.type !== "policy.judged")
    return say(...indentText(`${oneLine(name, NAME_CHARS)}: ${question.text}`, FACT_MARGIN));
  say(`${paint("bold", oneLine(name, NAME_CHARS))}: ${approvalAsked(question.language)}`);
  for (const [fact, text] of approvalRows({ plan: judged.plan, verdict: judged.verdict }, question.language))
    say(...indentText(`  ${fact.padEnd(FACT_CHARS)} ${text}`, FACT_MARGIN));
}
