import { Fault, isLoopbackHost, TERMINAL_LIMITS } from "@vidro/core";
import {
  ALWAYS_YES,
  CHANGED_YES,
  isApproval,
  oneLine,
  planWords,
  RUN_WIDE_YES,
  SHORT_ID_CHARS,
  spanWords,
} from "@vidro/core/text";
import { readQuestionName } from "@vidro/core/run";
import type { JsonObject, QuestionAsked, RunHead } from "@vidro/core";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainRuns } from "../brain-api/brain-api.ts";
import { findRun } from "../brain-api/find-run.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print, say, writeJson } from "../program/output.ts";
import { keepSigns } from "../view/control-sequences.ts";
import { reviewLines } from "../view/approval-keys.ts";
import { qrLines } from "../view/qr-lines.ts";
import { userName } from "../view/questions.ts";
import { showRun } from "../view/show-run.ts";
import { paint } from "../view/symbols.ts";

/* Plans and tools that wait for a person's yes, over all runs. */

const TASK_CHARS = 40;
const PLAN_CHARS = 60;
const AGE_CHARS = 12;

/** A question that a yes turns into an effect, and the run that waits for it. */
interface OpenApproval {
  readonly run: RunHead;
  readonly question: QuestionAsked;
  readonly askedAt: number;
}

/** Lists what waits for a yes, the longest wait first. */
export async function listApprovals(flags: BrainFlags & { readonly json?: boolean }): Promise<number> {
  return withBrainApi(flags, async ({ runs }) => {
    if (flags.json === true) for (const approval of await openApprovals(runs)) writeJson(approvalLine(approval));
    else {
      const rows = await approvalTable(runs);
      if (rows.length === 0) say("Nothing waits for an approval.");
      else print(...rows, "", "Decide: vidro approvals approve <run>, or deny <run>");
    }
    return EXIT.ok;
  });
}

/** What waits for a yes, as the rows of a table; none when nothing does. */
export async function approvalTable(runs: BrainRuns): Promise<readonly string[]> {
  const open = await openApprovals(runs);
  return open.length === 0 ? [] : [paint("dim", HEADING), ...open.map(row)];
}

/** Shows the whole plan that waits in a run. */
export async function showApproval(given: string, flags: BrainFlags & { readonly json?: boolean }): Promise<number> {
  return withBrainApi(flags, async ({ runs }) => {
    const approval = await findApproval(runs, given);
    const { run, question } = approval;
    const always = question.options.includes(ALWAYS_YES) ? await runs.always(run.id) : undefined;
    if (flags.json === true) writeJson({ ...approvalLine(approval), ...(always === undefined ? {} : { always }) });
    else
      print(
        `run ${run.id}: ${oneLine(run.task, TASK_CHARS)}`,
        "",
        ...keepSigns(question.text).split("\n"),
        ...(always === undefined ? [] : ["", "With --always:", ...reviewLines(always, question.language)]),
      );
    return EXIT.ok;
  });
}

/** Prints a link with which a phone answers what waits in a run, once; with `qr` as a code for its camera, too. */
export async function linkApproval(
  given: string,
  flags: BrainFlags & { readonly qr?: boolean; readonly json?: boolean },
): Promise<number> {
  return withBrainApi(flags, async (brain) => {
    const { run } = await findApproval(brain.runs, given);
    const link = await brain.answerLink(run.id);
    if (flags.json === true) {
      writeJson({ run_id: run.id, link });
      return EXIT.ok;
    }
    const code = flags.qr === true ? (qrLines(link) ?? []) : [];
    const width = code[0]?.length ?? 0;
    const isTooNarrow = process.stdout.isTTY && process.stdout.columns < width;
    if (isTooNarrow) say(`The code takes ${width} columns: make the terminal wider, and ask again.`);
    else print(...code);
    print(link);
    say("Its holder sees this plan and answers it once, within ten minutes, without signing in.");
    if (isLoopbackHost(new URL(link).hostname))
      say("Only this machine can open it: start the brain with vidro up --host and a certificate.");
    return EXIT.ok;
  });
}

/** Flags that say how far a yes goes; at most one of them. */
interface ApproveFlags extends BrainFlags {
  /** For the same plan in the rest of the run. */
  readonly forRun?: boolean;
  /** For good: a rule is added to the policy. */
  readonly always?: boolean;
  /** A command line, or fields as JSON, to run instead. */
  readonly change?: string;
}

/** Approves the plan that waits in a run, as `vidro approvals show` shows it. */
export function approvePlan(given: string, flags: ApproveFlags): Promise<number> {
  if ([flags.forRun, flags.always, flags.change].filter((flag) => flag !== undefined).length > 1)
    throw new Fault("BAD_REQUEST", "Say one of --for-run, --always and --change.");
  return decide(given, flags, ({ options }) => {
    if (flags.forRun === true) return RUN_WIDE_YES;
    if (flags.always === true) return ALWAYS_YES;
    return flags.change === undefined ? (options[0] ?? "yes") : `${CHANGED_YES}: ${flags.change}`;
  });
}

/** Denies the plan that waits in a run; the reason is told to the model. */
export function denyPlan(given: string, flags: BrainFlags & { readonly because?: string }): Promise<number> {
  return decide(given, flags, () => (flags.because === undefined ? "no" : `no: ${flags.because}`));
}

async function decide(
  given: string,
  flags: BrainFlags,
  answerTo: (question: QuestionAsked) => string,
): Promise<number> {
  return withBrainApi(flags, async ({ runs }) => {
    const { run, question } = await findApproval(runs, given);
    const role = await runs.join(run.id);
    if (role === "onlooker")
      throw new Fault("CONFLICT", `Another process drives run ${run.id} and asks there; answer it in its terminal.`);
    const text = answerTo(question);
    await runs.answer(run.id, { text, by: userName(), question: question.id });
    say(`${text.startsWith("no") ? "Denied" : "Approved"} in run ${run.id}.`);
    // Without a daemon this process drives the run on: to leave now would cut off what was just approved.
    return role === "driver" ? showRun(runs, { id: run.id, after: run.seq }, {}) : EXIT.ok;
  });
}

async function findApproval(runs: BrainRuns, given: string): Promise<OpenApproval> {
  const named = readQuestionName(given);
  const run = await findRun(runs, named?.run ?? given);
  const approval = run.status === "asking" ? await approvalIn(runs, run) : undefined;
  if (approval === undefined)
    throw new Fault("CONFLICT", `Nothing waits for an approval in run ${run.id}: it is ${run.status}.`);
  if (named !== undefined && named.question !== approval.question.id)
    throw new Fault("CONFLICT", `Question ${named.question} is closed; the open one is ${approval.question.id}.`);
  return approval;
}

async function openApprovals(runs: BrainRuns): Promise<readonly OpenApproval[]> {
  const found: OpenApproval[] = [];
  for (let after: string | undefined; ;) {
    const heads = await runs.list({
      open: true,
      limit: TERMINAL_LIMITS.listedRuns,
      ...(after === undefined ? {} : { after }),
    });
    for (const head of heads) {
      const approval = head.status === "asking" ? await approvalIn(runs, head) : undefined;
      if (approval !== undefined) found.push(approval);
    }
    after = heads.at(-1)?.id;
    if (heads.length < TERMINAL_LIMITS.listedRuns) return found.sort((one, other) => one.askedAt - other.askedAt);
  }
}

/** The question that waits in a run; undefined when it is not about an effect or has been answered. */
async function approvalIn(runs: BrainRuns, run: RunHead): Promise<OpenApproval | undefined> {
  let open: OpenApproval | undefined;
  for await (const { event, at } of runs.entries(run.id)) {
    if (event.type === "question.asked")
      open = isApproval(event, event.options[0] ?? "") ? { run, question: event, askedAt: at } : undefined;
    else if (event.type === "question.answered") open = undefined;
  }
  return open;
}

const HEADING = ["RUN".padEnd(SHORT_ID_CHARS), "WAITS".padStart(AGE_CHARS), "HOST".padEnd(TASK_CHARS / 2), "WHAT"].join(
  "  ",
);

function row({ run, question, askedAt }: OpenApproval): string {
  const { about } = question;
  const host = about.kind === "approval" ? (about.hand ?? "") : "";
  return [
    paint("bold", run.id.slice(-SHORT_ID_CHARS)),
    paint("dim", spanWords(Math.max(0, Date.now() - askedAt)).padStart(AGE_CHARS)),
    oneLine(host, TASK_CHARS / 2).padEnd(TASK_CHARS / 2),
    oneLine(whatIsAsked(question), PLAN_CHARS),
  ].join("  ");
}

function whatIsAsked({ about, text }: QuestionAsked): string {
  if (about.kind === "approval" && about.plan !== undefined) return planWords(about.plan);
  return about.kind === "tool" ? `a new tool: ${about.tool.name}` : text;
}

function approvalLine({ run, question, askedAt }: OpenApproval): JsonObject {
  const { id, about, text, expiresAt } = question;
  return {
    question: id,
    run_id: run.id,
    task: run.task,
    asked_at: askedAt,
    expires_at: expiresAt,
    text,
    ...(about.kind !== "approval"
      ? {}
      : {
          hash: about.hash,
          ...(about.hand === undefined ? {} : { host: about.hand }),
          ...(about.class === undefined ? {} : { class: about.class }),
          ...(about.plan === undefined ? {} : { plan: { ...about.plan } }),
        }),
  };
}
