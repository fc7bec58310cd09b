import { addUsage, liveText, TERMINAL_LIMITS, thinkingIn, usageIn } from "@vidro/core";
import { voidsWords } from "@vidro/core/run";
import {
  actionWords,
  commandLine,
  countWords,
  oneLine,
  outcomeWords,
  planWords,
  eventSentence,
  SHORT_ID_CHARS,
  spanWords,
  usageWords,
} from "@vidro/core/text";
import type { Action, Entry, Event, LiveEvent, PolicyJudged, QuestionAsked, RunStarted, Usage } from "@vidro/core";
import { AnswerStream, textRows } from "./answer-stream.ts";
import { approvalLines } from "./approval-lines.ts";
import { Checklist } from "./checklist.ts";
import { wrapText } from "./columns.ts";
import { keepSigns } from "./control-sequences.ts";
import { withShortIds } from "./helper-questions.ts";
import { foldedOutput } from "./output-fold.ts";
import { OutputLines } from "./output-lines.ts";
import { openRows } from "./rows.ts";
import { doingOf, shownModel, shownTask } from "./run-words.ts";
import type { Rows } from "./rows.ts";
import { actionFate, foundNothing } from "./run-fate.ts";
import type { ActionFate } from "./run-fate.ts";
import { paint, terminalSymbols } from "./symbols.ts";
import type { Paint, TerminalSymbols } from "./symbols.ts";
import type { Screen, TerminalOptions } from "./screen.ts";
import { printText } from "../program/output.ts";

/** A run as a person watches it. */
export function terminalScreen(options: TerminalOptions): Screen {
  return new TerminalScreen(options);
}

/** Width of the symbol and the space before each line. */
const MARK_CHARS = 2;
const MARGIN = " ".repeat(MARK_CHARS);
/** Room for the outcome beside the name of an action. */
const OUTCOME_CHARS = 32;
/** Room for the name itself on a narrow terminal; the rest of the line is wrapped. */
const LEAST_NAME_CHARS = 16;
/** Room for the elapsed time. */
const SPAN_CHARS = 14;
/** The longest name of an action or a task where rows have no width. */
const NAME_CHARS = 200;
/** The model whose answers are plain text. */
const PLAIN_MODEL = "offline";

const FATE_STYLES = { done: "green", failed: "red", refused: "yellow", unknown: "magenta" } as const;

class TerminalScreen implements Screen {
  readonly #options: TerminalOptions;
  readonly #marks: TerminalSymbols = terminalSymbols();
  readonly #rows: Rows;
  readonly #paint: Paint;
  readonly #plan = new Checklist();
  #fold = new OutputLines();
  #answer: AnswerStream;
  #spinner: NodeJS.Timeout | undefined;
  /** What is going on, and since when. */
  #doing = "starting";
  #since = Date.now();
  #action: Action | undefined;
  #judged: PolicyJudged | undefined;
  #foundNothing = false;
  #startedAt = 0;
  /** Whether entries are taken in without being shown. */
  #recalling = false;
  readonly #counts = { steps: 0, actions: 0 };
  #used: Usage = { inputTokens: 0, outputTokens: 0 };
  #isMarkdown = true;
  /** Whether rows of the model's current text are shown. */
  #hasText = false;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#rows = openRows(options.stream);
    this.#paint = (style, text) => paint(style, text, options.stream);
    this.#answer = this.#newAnswer();
  }

  /** What fits on a line behind its mark. */
  get #room(): number {
    return Math.min(this.#rows.columns - MARK_CHARS, NAME_CHARS);
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
    this.#showQuestion(question);
  }

  /** Takes in a live event; the spinner's next turn draws it, so that the cost does not grow with the output. */
  live(event: LiveEvent): void {
    if (event.type === "model.delta") {
      if (this.#isStreaming) this.#text(this.#answer.push(event.text, this.#rows.columns, event.from));
      return;
    }
    const lines = this.#fold.push(withShortIds(liveText(event)));
    // Thinking is shown whole with its reply.
    if (this.#options.verbose && event.type === "action.output")
      for (const line of lines) this.#aside(this.#marks.bar, line);
  }

  notice(words: string): void {
    this.#aside(this.#marks.note, words);
    this.#draw();
  }

  redraw(): void {
    this.#draw();
  }

  goOn(): void {
    this.#spin();
    this.#draw();
  }

  releaseTerminal(): void {
    clearInterval(this.#spinner);
    this.#spinner = undefined;
    this.#rows.clear();
  }

  close(): void {
    this.releaseTerminal();
    this.#rows.close();
  }

  /** Whether the model's text is shown while it is written. */
  get #isStreaming(): boolean {
    return this.#options.live && !this.#options.isPiped && !this.#options.quiet && !this.#recalling;
  }

  #show(event: Event, at: number): void {
    const fate = actionFate(event, this.#judged?.verdict.class);
    if (fate !== undefined) return this.#showEnd(event, fate);
    switch (event.type) {
      case "run.started":
        return this.#showStart(event);
      case "model.called":
        this.#answer = this.#newAnswer();
        this.#hasText = false;
        return this.#begin(doingOf(event), at);
      case "model.replied":
        return this.#showReply(event);
      case "plan.made":
        this.#plan.begin(event.steps);
        if (!this.#options.live) this.#aside(this.#marks.note, eventSentence(event));
        return;
      case "policy.judged":
        this.#judged = event;
        if (this.#options.verbose) this.#aside(this.#marks.note, eventSentence(event));
        return;
      case "question.asked":
        return this.#showQuestion(event);
      case "question.answered":
        return this.#line(" ", this.#paint("dim", eventSentence(event)));
      case "remark.made":
        return this.#line(this.#paint("cyan", this.#marks.task), eventSentence(event));
      case "action.started":
        this.#action = event.action;
        return this.#begin(actionWords(event.action, this.#room), at);
      case "intent.analyzed":
      case "model.failed":
      case "heal.tried":
        return this.#showHealing(event);
      case "note.observed":
      case "knowledge.committed":
      case "tool.proposed":
      case "context.compacted":
        return this.#aside(this.#marks.note, eventSentence(event));
      case "run.finished":
        this.#plan.finish(this.#foundNothing && event.unmet !== true);
        return this.#end(at, event.result);
      case "run.failed":
        return this.#end(at);
      case "run.aborted":
        this.#line(this.#paint("yellow", this.#marks.stop), eventSentence(event));
        return this.#end(at);
      default:
        // An event that only a newer brain knows.
        this.#aside(this.#marks.note, oneLine((event as Event).type, this.#room));
    }
  }

  #showStart({ task, model, workspace, agent, forked }: RunStarted): void {
    this.#isMarkdown = model !== PLAIN_MODEL;
    this.#line(
      this.#paint(["cyan", "bold"], this.#marks.task),
      this.#paint("bold", oneLine(shownTask(task, model), this.#room)),
    );
    const id = this.#options.run.slice(-SHORT_ID_CHARS);
    this.#line(" ", this.#paint("dim", `${agent} with ${shownModel(model)} in ${workspace} · run ${id}`));
    if (forked !== undefined)
      this.#line(" ", this.#paint("dim", `forked from ${oneLine(forked.run, this.#room)} at entry ${forked.seq}`));
  }

  #showReply(event: Extract<Event, { type: "model.replied" }>): void {
    this.#action = event.action;
    this.#isMarkdown = event.model !== PLAIN_MODEL;
    const { text } = event;
    this.#showThought(event.parts === undefined ? "" : thinkingIn(event.parts).trim());
    if (this.#options.verbose) this.#aside(this.#marks.note, `${event.model}: ${usageWords(event.usage)}`);
    if (this.#isStreaming) this.#text(this.#answer.end(this.#rows.columns));
    // Text beside an action is shown; the answer itself comes with the end of the run.
    if (text.trim() === "" || text === event.answer || this.#answer.hasShown(text)) return;
    this.#line(" ", text.trim());
  }

  /** What the model thought: folded to one line, whole with --verbose. */
  #showThought(text: string): void {
    // What it printed live is not the output of the action that follows.
    this.#fold = new OutputLines();
    if (text === "") return;
    const words = this.#options.verbose ? text : oneLine(text, this.#room);
    this.#line(this.#paint("magenta", this.#marks.thought), this.#paint(["magenta", "dim"], words));
  }

  #showHealing(event: Extract<Event, { type: "intent.analyzed" | "model.failed" | "heal.tried" }>): void {
    if (voidsWords(event)) {
      if (this.#isStreaming) this.#text(this.#answer.end(this.#rows.columns));
      this.#answer = this.#newAnswer();
      this.#hasText = false;
      this.#fold = new OutputLines();
    }
    this.#line(this.#paint("yellow", this.#marks.heal), eventSentence(event));
  }

  /** An action ended, or was never begun. */
  #showEnd(event: Event, fate: ActionFate): void {
    this.#plan.take(fate);
    this.#foundNothing = foundNothing(event, this.#judged?.verdict.class);
    const mark = this.#paint(FATE_STYLES[fate], this.#marks[fate]);
    if (event.type !== "action.finished") {
      if (event.type === "action.failed" || event.type === "action.unknown")
        this.#line(mark, `${this.#name()}: ${event.fault.message}`);
      return;
    }
    const words = `· ${outcomeWords(event.outcome)}`;
    this.#line(mark, `${this.#name(words.length + 1)} ${this.#paint("dim", words)}`);
    // What was allowed without a question only looked: its answer says what it found.
    const isShown = fate === "failed" || (this.#judged !== undefined && this.#judged.verdict.class !== "read");
    if (!isShown || (this.#options.verbose && this.#options.live)) return;
    for (const line of foldedOutput(event.outcome)) this.#aside(this.#marks.bar, line);
  }

  #showQuestion(event: QuestionAsked): void {
    const ask = this.#paint(["yellow", "bold"], this.#marks.ask);
    if (event.about.kind === "approval" && this.#judged !== undefined) {
      const { hand } = event.about;
      const asked = { ...this.#judged, action: this.#action, ...(hand === undefined ? {} : { hand }) };
      const how = { paint: this.#paint, columns: this.#rows.columns - MARK_CHARS };
      const [question, ...lines] = approvalLines(asked, event.language, how);
      this.#always(ask, this.#paint("bold", question));
      for (const line of lines) this.#raw(`${MARGIN}${line}`);
      return;
    }
    this.#always(ask, this.#paint("bold", event.text));
    if (event.about.kind === "tool") this.#always(" ", keepSigns(commandLine(event.about.tool.argv ?? [])));
    else
      for (const [index, option] of event.options.entries())
        this.#always(" ", `${index + 1}  ${oneLine(option, this.#room)}`);
  }

  /** Shows the answer, how the plan ended, and what the run used. */
  #end(at: number, result?: unknown): void {
    this.releaseTerminal();
    if (result !== undefined) this.#printAnswer(result);
    this.#printPlan();
    const { steps, actions } = this.#counts;
    const used = [
      countWords(steps, "step"),
      countWords(actions, "action"),
      usageWords(this.#used),
      spanWords(at - this.#startedAt),
    ];
    this.#line(" ", this.#paint("dim", used.join(" · ")));
  }

  #printAnswer(result: unknown): void {
    if (this.#recalling) return;
    const text = (typeof result === "string" ? result : JSON.stringify(result, null, 2)).trimEnd();
    if (this.#options.isPiped) return printText(text);
    if (this.#answer.hasShown(text)) return this.#raw("");
    const stream = this.#newAnswer(typeof result === "string");
    const { columns } = this.#rows;
    const rows = [...stream.push(text, columns), ...stream.end(columns)];
    const body = this.#options.quiet ? rows : ["", ...rows, ""];
    this.#raw(body.join("\n"));
  }

  /** Begins a text of the model; the built-in model quotes files, which are no Markdown. */
  #newAnswer(isText = true): AnswerStream {
    return new AnswerStream(textRows(isText && this.#isMarkdown && this.#options.live, this.#paint));
  }

  #count(event: Event): void {
    if (event.type === "model.called" && event.attempt === 1 && event.summary !== true) this.#counts.steps += 1;
    if (event.type === "action.started") this.#counts.actions += 1;
    const usage = usageIn(event);
    if (usage !== undefined) this.#used = addUsage(this.#used, usage);
  }

  #begin(doing: string, at: number): void {
    this.#fold = new OutputLines();
    this.#doing = doing;
    this.#since = at;
    this.#spin();
  }

  #spin(): void {
    if (!this.#options.live || this.#options.quiet || this.#recalling) return;
    this.#spinner ??= setInterval(() => this.#draw(), TERMINAL_LIMITS.spinnerMs).unref();
  }

  /** The name of the current action. */
  #name(others = OUTCOME_CHARS): string {
    const room = Math.max(LEAST_NAME_CHARS, this.#room - others);
    if (this.#action !== undefined) return actionWords(this.#action, room);
    return this.#judged === undefined ? "action" : oneLine(planWords(this.#judged.plan), room);
  }

  #printPlan(): void {
    for (const row of this.#planRows(Infinity)) if (!this.#options.quiet) this.#raw(row);
  }

  #planRows(most: number): readonly string[] {
    return this.#plan.rows(most).map(({ step, state }) => {
      const text = oneLine(step, this.#room);
      if (state === "now") return `${this.#paint("cyan", this.#marks.now)} ${text}`;
      const mark =
        state === "later" ? this.#paint("dim", this.#marks.later) : this.#paint(FATE_STYLES[state], this.#marks[state]);
      return `${mark} ${this.#paint("dim", text)}`;
    });
  }

  #draw(): void {
    if (this.#spinner === undefined) return;
    const { bar, spinner } = this.#marks;
    const output = this.#fold.last();
    const mark = spinner[Math.floor(Date.now() / TERMINAL_LIMITS.spinnerMs) % spinner.length] ?? "";
    const span = spanWords(Math.max(0, Date.now() - this.#since));
    this.#rows.draw([
      ...this.#answer.open(this.#rows.columns),
      ...this.#planRows(TERMINAL_LIMITS.planRows),
      ...output.map((line) => this.#paint("dim", `${bar} ${oneLine(line, this.#room)}`)),
      `${this.#paint("cyan", mark)} ${oneLine(this.#doing, this.#room - SPAN_CHARS)} ${this.#paint("dim", span)}`,
      ...this.#writtenRow(),
    ]);
  }

  /** The row that a person writes to the run at work. */
  #writtenRow(): readonly string[] {
    const row = this.#options.written?.(this.#rows.columns);
    return row === undefined ? [] : [row];
  }

  #aside(mark: string, text: string): void {
    this.#line(this.#paint("dim", mark), this.#paint("dim", text));
  }

  #line(mark: string, text: string): void {
    if (!this.#options.quiet) this.#always(mark, text);
  }

  /** Prints a text behind its mark, broken between words; further rows are indented. */
  #always(mark: string, text: string): void {
    const [first = "", ...others] = wrapText(text, this.#rows.columns - MARK_CHARS);
    this.#raw([`${mark} ${first}`, ...others.map((row) => `${MARGIN}${row}`)].join("\n"));
  }

  /** Prints rows of the model's text, set off from what is above it. */
  #text(rows: readonly string[]): void {
    if (rows.length === 0) return;
    this.#raw([...(this.#hasText ? [] : [""]), ...rows].join("\n"));
    this.#hasText = true;
  }

  #raw(text: string): void {
    if (!this.#recalling) this.#rows.print(text);
  }
}
