import type { WriteStream } from "node:tty";
import { TERMINAL_LIMITS } from "@vidro/core";
import { voidsWords } from "@vidro/core/run";
import {
  actionWords,
  approvalAsked,
  approvalRows,
  commandLine,
  countWords,
  oneLine,
  outcomeWords,
  planWords,
  printable,
  eventSentence,
  SHORT_ID_CHARS,
  spanWords,
} from "@vidro/core/text";
import type { Action, Entry, Event, LiveEvent, PolicyJudged, QuestionAsked, RunStarted } from "@vidro/core";
import { Checklist } from "./checklist.ts";
import { OutputLines } from "./output-lines.ts";
import { LiveArea } from "./live-area.ts";
import { paint, terminalSymbols } from "./symbols.ts";
import type { TerminalSymbols } from "./symbols.ts";
import type { Verbosity, Screen } from "./screen.ts";

/** How a terminal is used; with `live`, rows are redrawn. */
interface TerminalOptions extends Verbosity {
  readonly stream: WriteStream;
  readonly live: boolean;
  /** The run's id. */
  readonly run: string;
}

/** A run as a person watches it on a terminal. */
export function terminalScreen(options: TerminalOptions): Screen {
  return new TerminalScreen(options);
}

/** Columns of a terminal that does not tell its size. */
const USUAL_COLUMNS = 80;
/** Width of the symbol and the space before each line. */
const MARK_CHARS = 2;
/** Width of the names of an approval's rows. */
const ROW_NAME_CHARS = 9;
const MARGIN = `\n${" ".repeat(MARK_CHARS)}`;
const ROW_MARGIN = `\n${" ".repeat(MARK_CHARS + ROW_NAME_CHARS + 1)}`;
/** Room for the outcome beside the name of an action. */
const OUTCOME_CHARS = 32;
/** Room for the elapsed time. */
const SPAN_CHARS = 14;

class TerminalScreen implements Screen {
  readonly #options: TerminalOptions;
  readonly #marks: TerminalSymbols;
  readonly #area: LiveArea;
  readonly #plan = new Checklist();
  #fold = new OutputLines();
  #spinner: NodeJS.Timeout | undefined;
  /** What is going on, and since when. */
  #doing = "starting";
  #since = Date.now();
  #action: Action | undefined;
  #judged: PolicyJudged | undefined;
  #startedAt = 0;
  /** Whether entries are taken in without being shown. */
  #recalling = false;
  readonly #used = { steps: 0, actions: 0, tokens: 0 };

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#marks = terminalSymbols();
    this.#area = new LiveArea(options.stream);
  }

  /** What fits on a line behind its mark. */
  get #room(): number {
    return (this.#options.stream.columns || USUAL_COLUMNS) - MARK_CHARS;
  }

  entry({ at, event }: Entry): void {
    if (event.type === "run.started") this.#startedAt = at;
    this.#count(event);
    this.#show(event, at);
    this.#draw();
  }

  recall(entry: Entry): void {
    this.#recalling = true;
    this.entry(entry);
    this.#recalling = false;
  }

  remind(question: QuestionAsked): void {
    this.#asked(question);
  }

  /** Takes in a live event; the spinner's next turn draws it, so that the cost does not grow with the output. */
  live(event: LiveEvent): void {
    const lines = this.#fold.push(event.type === "model.delta" ? event.text : event.chunk);
    if (!this.#options.verbose || event.type !== "action.output") return;
    for (const line of lines) this.#aside(this.#marks.bar, line);
  }

  releaseTerminal(): void {
    clearInterval(this.#spinner);
    this.#spinner = undefined;
    this.#area.clear();
  }

  close(): void {
    this.releaseTerminal();
    this.#area.close();
  }

  #show(event: Event, at: number): void {
    switch (event.type) {
      case "run.started":
        return this.#started(event);
      case "model.called":
        return this.#begin(event.attempt > 1 ? `thinking, try ${event.attempt}` : "thinking", at);
      case "model.replied":
        this.#action = event.action;
        // Text beside an action is shown; the answer itself comes with the end of the run.
        if (event.text !== "" && event.text !== event.answer)
          this.#line(" ", event.text.trim().replaceAll("\n", MARGIN));
        return;
      case "plan.made":
        this.#plan.begin(event.steps);
        if (!this.#options.live) this.#printPlan();
        return;
      case "policy.judged":
        this.#judged = event;
        if (this.#options.verbose) this.#aside(this.#marks.note, eventSentence(event));
        return;
      case "question.asked":
        return this.#asked(event);
      case "question.answered":
        return this.#line(" ", paint("dim", eventSentence(event)));
      case "action.started":
        this.#action = event.action;
        return this.#begin(actionWords(event.action, this.#room), at);
      case "action.finished":
        return this.#finished(event);
      case "action.failed":
      case "action.unknown":
        return this.#line(
          paint("red", this.#marks.failed),
          `${this.#name()}: ${event.fault.message.replaceAll("\n", MARGIN)}`,
        );
      case "intent.analyzed":
      case "model.failed":
      case "heal.tried":
        if (voidsWords(event)) this.#fold = new OutputLines();
        return this.#line(paint("yellow", this.#marks.heal), eventSentence(event));
      case "note.observed":
      case "knowledge.committed":
      case "tool.proposed":
      case "context.compacted":
        return this.#aside(this.#marks.note, eventSentence(event));
      case "run.finished":
        this.#plan.finish();
        this.#end(at);
        return this.#answer(event.result);
      case "run.failed":
        return this.#end(at);
      case "run.aborted":
        this.#line(paint("yellow", this.#marks.stop), eventSentence(event));
        return this.#end(at);
      default:
        // An event that only a newer brain knows.
        this.#aside(this.#marks.note, oneLine((event as Event).type, this.#room));
    }
  }

  #started({ task, model, workspace, agent }: RunStarted): void {
    this.#line(paint(["cyan", "bold"], this.#marks.task), paint("bold", oneLine(task, this.#room)));
    const id = this.#options.run.slice(-SHORT_ID_CHARS);
    this.#line(" ", paint("dim", `${agent} with ${model} in ${workspace} · run ${id}`));
  }

  #finished(event: Extract<Event, { type: "action.finished" }>): void {
    const { outcome } = event;
    const failed = outcome.kind === "process" && outcome.exitCode !== 0;
    if (!failed) this.#plan.tick();
    const mark = failed ? paint("red", this.#marks.failed) : paint("green", this.#marks.done);
    this.#line(mark, `${this.#name()} ${paint("dim", `· ${outcomeWords(outcome)}`)}`);
    const told = this.#fold.last();
    if (failed && !this.#options.verbose) for (const line of told) this.#aside(this.#marks.bar, line);
  }

  #asked(event: QuestionAsked): void {
    const ask = paint(["yellow", "bold"], this.#marks.ask);
    if (event.about.kind === "approval" && this.#judged !== undefined) {
      this.#always(ask, paint("bold", approvalAsked(event.language)));
      const { hand } = event.about;
      const asked = { ...this.#judged, action: this.#action, ...(hand === undefined ? {} : { hand }) };
      for (const [name, text] of approvalRows(asked, event.language)) {
        this.#always(" ", `${paint("dim", name.padEnd(ROW_NAME_CHARS))} ${text.replaceAll("\n", ROW_MARGIN)}`);
      }
      return;
    }
    this.#always(ask, paint("bold", event.text.replaceAll("\n", MARGIN)));
    if (event.about.kind === "tool") this.#always(" ", commandLine(event.about.tool.argv ?? []));
    else
      for (const [index, option] of event.options.entries())
        this.#always(" ", `${index + 1}  ${oneLine(option, this.#room)}`);
  }

  /** Shows the final plan and what the run used. */
  #end(at: number): void {
    this.releaseTerminal();
    if (this.#options.live) this.#printPlan();
    const { steps, actions, tokens } = this.#used;
    const used = [
      countWords(steps, "step"),
      countWords(actions, "action"),
      countWords(tokens, "token"),
      spanWords(at - this.#startedAt),
    ];
    this.#line(" ", paint("dim", used.join(" · ")));
  }

  #answer(result: unknown): void {
    const text = printable(typeof result === "string" ? result : JSON.stringify(result, null, 2));
    this.#always("", this.#options.quiet ? text.trimEnd() : `\n${text.trimEnd()}`);
  }

  #count(event: Event): void {
    if (event.type === "model.called" && event.attempt === 1) this.#used.steps += 1;
    if (event.type === "action.started") this.#used.actions += 1;
    if (event.type === "model.replied") this.#used.tokens += event.usage.inputTokens + event.usage.outputTokens;
  }

  #begin(doing: string, at: number): void {
    this.#fold = new OutputLines();
    this.#doing = doing;
    this.#since = at;
    if (!this.#options.live || this.#options.quiet || this.#recalling) return;
    this.#spinner ??= setInterval(() => this.#draw(), TERMINAL_LIMITS.spinnerMs).unref();
  }

  /** The name of the current action. */
  #name(): string {
    if (this.#action !== undefined) return actionWords(this.#action, this.#room - OUTCOME_CHARS);
    return this.#judged === undefined ? "action" : oneLine(planWords(this.#judged.plan), this.#room - OUTCOME_CHARS);
  }

  #printPlan(): void {
    for (const row of this.#planRows(Infinity)) this.#line("", row);
  }

  #planRows(most: number): readonly string[] {
    const { done, now, later } = this.#marks;
    return this.#plan.rows(most).map(({ step, state }) => {
      const text = oneLine(step, this.#room);
      if (state === "done") return `${paint("green", done)} ${paint("dim", text)}`;
      return state === "now" ? `${paint("cyan", now)} ${text}` : `${paint("dim", later)} ${paint("dim", text)}`;
    });
  }

  #draw(): void {
    if (this.#spinner === undefined) return;
    const { bar, spinner } = this.#marks;
    const output = this.#fold.last();
    const mark = spinner[Math.floor(Date.now() / TERMINAL_LIMITS.spinnerMs) % spinner.length] ?? "";
    this.#area.draw([
      ...this.#planRows(TERMINAL_LIMITS.planRows),
      ...output.map((line) => paint("dim", `${bar} ${oneLine(line, this.#room)}`)),
      `${paint("cyan", mark)} ${oneLine(this.#doing, this.#room - SPAN_CHARS)} ${paint("dim", spanWords(Math.max(0, Date.now() - this.#since)))}`,
    ]);
  }

  #aside(mark: string, text: string): void {
    this.#line(paint("dim", mark), paint("dim", text));
  }

  #line(mark: string, text: string): void {
    if (!this.#options.quiet) this.#always(mark, text);
  }

  #always(mark: string, text: string): void {
    if (this.#recalling) return;
    this.#area.print(mark === "" ? text : `${mark} ${text}`);
  }
}
