import type { HandRecord } from "@vidro/client";
import { REGISTER_LIMITS } from "@vidro/core";
import { directTask } from "@vidro/core/run";
import { approvalAsked, approvalRows, oneLine, outcomeWords } from "@vidro/core/text";
import type { Entry, Output, ProcessOutcome, QuestionAsked } from "@vidro/core";
import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { Execution } from "./execution.ts";
import { PassedOutput } from "./passed-output.ts";
import type { ExecutionResult, ExecutionOptions } from "./execution.ts";
import { requireFolder } from "../../program/require-folder.ts";
import { keepSigns } from "../../view/control-sequences.ts";
import { onInterrupt } from "../../view/interrupts.ts";
import type { LeaveReason } from "../../view/interrupts.ts";
import { paint } from "../../view/symbols.ts";
import { absentAnswerer, personAnswerer, yesAnswerer } from "../../view/questions.ts";
import { indentText, passOutput, print, say, sayFault, writeJson } from "../../program/output.ts";
import type { BrainRuns } from "../../brain-api/brain-api.ts";

/** Flags of `vidro hands exec`. */
interface ExecFlags extends BrainFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

const NAME_CHARS = 60;
const FACT_CHARS = 9;
/** Indent of further lines of a text, so that none looks like a row. */
const FACT_MARGIN = FACT_CHARS + 3;
const HOW_TO_APPROVE = "It has to be approved: do it on a terminal, or with --yes.";

/** Runs one command on each selected hand, each as one run, and gives the highest exit code. */
export async function exec(on: string, argv: readonly string[], flags: ExecFlags): Promise<number> {
  return withBrainApi(flags, async ({ runs, hands: register }) => {
    const hands = await register.list({ select: on });
    const way: Way = hands.length > 1 ? "each" : "stream";
    const ask = questions(flags);
    const task = directTask(argv);
    const jobs = hands.map((hand): HandExecution => {
      const heard = new Heard(flags.json === true ? "line" : way);
      const order = { runs, hand, task, workspace: requireFolder("."), hear: (event: OutputPart) => heard.take(event) };
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

/** How output is printed: as it comes, host by host, or as a line of JSON for each host. */
type Way = "stream" | "each" | "line";

interface OutputPart {
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

/** Passes Ctrl-C on to every command: the first aborts them, the second leaves them running. */
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

/** Prints the output of one command. */
class Heard {
  readonly #way: Way;
  readonly #passed = { stdout: new PassedOutput(), stderr: new PassedOutput() };

  constructor(way: Way) {
    this.#way = way;
  }

  /** Prints live output that follows without a gap; what comes after a gap is printed at the end. */
  take({ stream, chunk, from }: OutputPart): void {
    if (this.#way === "stream" && this.#passed[stream].take(chunk, from)) passOutput(stream, chunk);
  }

  tell(hand: HandRecord, executed: ExecutionResult): void {
    const { outcome, fault, run } = executed;
    if (this.#way === "line") return writeJson(lineOf(hand, executed));
    if (this.#way === "each") print(hostTitle(hand, outcome));
    if (fault !== undefined) return sayFault(fault, fault.code === "APPROVAL_DENIED" ? HOW_TO_APPROVE : undefined);
    for (const stream of ["stdout", "stderr"] as const) {
      const output = outcome?.[stream];
      if (output === undefined) continue;
      if (this.#way === "each") passOutput(stream, withLineEnd(output.text));
      else this.#rest(stream, output, run);
    }
  }

  /** Prints what was not printed while the command ran; says so when part of it is lost. */
  #rest(stream: OutputPart["stream"], { text, bytes }: Output, run: string): void {
    const passed = this.#passed[stream];
    const rest = passed.rest(text);
    if (rest !== undefined) return passOutput(stream, rest);
    if (passed.bytes < bytes)
      say(
        `vidro: only ${passed.bytes} of ${bytes} bytes of ${stream} came; what is kept of it: vidro runs show ${run}`,
      );
  }
}

function hostTitle({ name }: HandRecord, outcome: ProcessOutcome | undefined): string {
  const words = outcome === undefined ? "" : paint("dim", ` · ${outcomeWords(outcome)}`);
  return `${paint("bold", oneLine(name, NAME_CHARS))}${words}`;
}

/** Ends a text with a line break, so that the next host begins on a new line. */
function withLineEnd(text: string): string {
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

/** Shows a question that a person has to decide. */
function show({ name }: HandRecord, question: QuestionAsked, entries: readonly Entry[]): void {
  const judged = entries.findLast(({ event }) => event.type === "policy.judged")?.event;
  if (judged?.type !== "policy.judged")
    return say(...indentText(`${oneLine(name, NAME_CHARS)}: ${question.text}`, FACT_MARGIN));
  say(`${paint("bold", oneLine(name, NAME_CHARS))}: ${approvalAsked(question.language)}`);
  for (const [fact, text] of approvalRows({ plan: judged.plan, verdict: judged.verdict }, question.language))
    say(...indentText(`  ${fact.padEnd(FACT_CHARS)} ${keepSigns(text)}`, FACT_MARGIN));
}
