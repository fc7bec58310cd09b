import { randomUUIDv7 } from "node:crypto";
import { isAbsolute } from "node:path";
import { asFault, Fault, isObject, RUN_LIMITS } from "@vidro/core";
import { ALWAYS_YES, CHANGED_YES, RUN_WIDE_YES, runWideWords } from "@vidro/core/text";
import type { Action, Entry, FaultCode, FilePart, Json, JsonObject, QuestionAsked } from "@vidro/core";
import type { BrainRuns } from "../../brain-api/brain-api.ts";
import { requireFolder } from "../../program/require-folder.ts";
import { userName } from "../../view/questions.ts";
import { readFileCommands, taskOfCommand } from "../talk/command-files.ts";
import type { AcpSession, AcpSessions } from "./acp-sessions.ts";
import type { EditorFiles } from "./editor-files.ts";
import type { Editor } from "./editor.ts";
import { chunk, RunUpdates, editorToolCall } from "./run-updates.ts";

/** The version of the protocol that is spoken. */
const PROTOCOL = 1;

/** Faults that stand for a bound of a turn. */
const STOP_REASONS: { readonly [code in FaultCode]?: string } = {
  STEP_LIMIT: "max_turn_requests",
  ACTION_LIMIT: "max_turn_requests",
  TOKEN_LIMIT: "max_tokens",
};

/** A turn that is under way. */
interface EditorTurn {
  readonly cancelled: AbortController;
  run?: string;
}

/** What an agent for editors works with. */
interface AcpParts {
  readonly runs: BrainRuns;
  readonly sessions: AcpSessions;
  /** Is told what the editor offers and where its sessions work. */
  readonly files: EditorFiles;
  readonly version: string;
}

/** An agent for editors that speak the Agent Client Protocol: a session is a conversation, a prompt is a run. */
export class AcpAgent {
  readonly #runs: BrainRuns;
  readonly #sessions: AcpSessions;
  readonly #files: EditorFiles;
  readonly #version: string;
  readonly #turns = new Map<string, EditorTurn>();

  constructor({ runs, sessions, files, version }: AcpParts) {
    this.#runs = runs;
    this.#sessions = sessions;
    this.#files = files;
    this.#version = version;
  }

  /** Answers a request of the editor; undefined for a method that there is none of. */
  request(method: string, params: JsonObject, editor: Editor): Promise<JsonObject> | undefined {
    switch (method) {
      case "initialize":
        this.#files.offer(editor, params["clientCapabilities"]);
        return Promise.resolve({
          protocolVersion: PROTOCOL,
          agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
          agentInfo: { name: "vidro", title: "Vidro", version: this.#version },
          authMethods: [],
        });
      case "authenticate":
        return Promise.resolve({});
      case "session/new":
        return this.#begin(params, editor);
      case "session/load":
        return this.#load(params, editor);
      case "session/prompt":
        return this.#prompt(params, editor);
      default:
        return undefined;
    }
  }

  /** Stops the turn of a session; one that is not known has none, and a notification is never refused. */
  cancel({ sessionId }: JsonObject): void {
    const turn = typeof sessionId === "string" ? this.#turns.get(sessionId) : undefined;
    turn?.cancelled.abort();
    // The run may have ended meanwhile.
    if (turn?.run !== undefined) this.#runs.abort(turn.run, "Cancelled in the editor.").catch(() => undefined);
  }

  async #begin(params: JsonObject, editor: Editor): Promise<JsonObject> {
    const cwd = folderIn(params);
    const sessionId = `acp_${randomUUIDv7()}`;
    await this.#sessions.keep(sessionId, { cwd, runs: [] });
    // Behind the answer, which tells the editor of the session.
    setImmediate(() => show(editor, sessionId, [availableCommands(cwd)]));
    return { sessionId };
  }

  /** Shows a session from its beginning. */
  async #load(params: JsonObject, editor: Editor): Promise<JsonObject> {
    const sessionId = textField(params, "sessionId");
    const session = { ...(await this.#sessions.find(sessionId)), cwd: folderIn(params) };
    await this.#sessions.keep(sessionId, session);
    for (const run of session.runs) {
      const updates = new RunUpdates(session.cwd);
      for await (const entry of this.#runs.entries(run)) {
        if (entry.event.type === "run.started")
          show(editor, sessionId, [chunk("user_message_chunk", entry.event.task)]);
        show(editor, sessionId, updates.entry(entry));
      }
    }
    show(editor, sessionId, [availableCommands(session.cwd)]);
    return {};
  }

  async #prompt(params: JsonObject, editor: Editor): Promise<JsonObject> {
    const sessionId = textField(params, "sessionId");
    const session = await this.#sessions.find(sessionId);
    if (this.#turns.has(sessionId))
      throw new Fault("CONFLICT", "A turn of this session is under way: cancel it first.");
    const turn: EditorTurn = { cancelled: new AbortController() };
    this.#turns.set(sessionId, turn);
    this.#files.use(sessionId, session.cwd);
    try {
      const asked = { task: commandTask(taskIn(params), session.cwd), files: imagesIn(params) };
      const { run, after } = await this.#start(sessionId, session, asked);
      turn.run = run;
      if (turn.cancelled.signal.aborted) this.cancel({ sessionId });
      return { stopReason: await this.#follow({ run, after, sessionId, cwd: session.cwd, turn }, editor) };
    } finally {
      this.#turns.delete(sessionId);
    }
  }

  /** The run of a prompt: a new one, or the one whose question the prompt answers. */
  async #start(
    sessionId: string,
    session: AcpSession,
    { task, files }: EditorPrompt,
  ): Promise<{ run: string; after: number }> {
    const last = session.runs.at(-1);
    const head = last === undefined ? undefined : await this.#runs.find(last);
    if (head?.status === "asking") {
      const question = await this.#openQuestion(head.id);
      if (question?.about.kind === "ask") {
        await this.#runs.answer(head.id, { text: task, by: userName(), question: question.id });
        return { run: head.id, after: head.seq };
      }
    }
    const { cwd, thread } = session;
    const { run } = await this.#runs.start({
      task,
      files,
      workspace: cwd,
      ...(thread === undefined ? {} : { thread }),
    });
    await this.#sessions.keep(sessionId, { cwd, thread: run.thread, runs: [...session.runs, run.id] });
    return { run: run.id, after: 0 };
  }

  async #openQuestion(run: string): Promise<QuestionAsked | undefined> {
    let question: QuestionAsked | undefined;
    for await (const { event } of this.#runs.entries(run)) if (event.type === "question.asked") question = event;
    return question;
  }

  /** Shows a run until its turn is over; gives why it is. */
  async #follow({ run, after, sessionId, cwd, turn }: FollowedTurn, editor: Editor): Promise<string> {
    const updates = new RunUpdates(cwd);
    const left = new AbortController();
    // A question that the editor cannot ask would keep the turn waiting for ever.
    const asked = new EditorApprovals({ run, sessionId, cwd, failed: () => left.abort() }, editor, this.#runs);
    await this.#runs.join(run);
    try {
      for await (const item of this.#runs.follow(run, after, left.signal)) {
        if ("live" in item) {
          show(editor, sessionId, updates.live(item.live));
          continue;
        }
        const { event } = item.entry;
        show(editor, sessionId, updates.entry(item.entry));
        asked.note(item.entry);
        if (event.type === "run.finished") return "end_turn";
        if (event.type === "run.aborted") return "cancelled";
        if (event.type === "run.failed") return STOP_REASONS[event.fault.code] ?? "end_turn";
        if (event.type !== "question.asked") continue;
        if (event.about.kind !== "ask") asked.ask(event, turn.cancelled.signal);
        else {
          // The next prompt answers it: the protocol has no question with words as its answer.
          show(editor, sessionId, [chunk("agent_message_chunk", questionWords(event))]);
          return "end_turn";
        }
      }
      throw asked.fault ?? new Fault("BRAIN_UNREACHABLE", "The brain stopped telling of the run.");
    } finally {
      asked.close();
      left.abort();
    }
  }
}

/** What a person sends in an editor. */
interface EditorPrompt {
  readonly task: string;
  readonly files: readonly FilePart[];
}

interface FollowedTurn {
  readonly run: string;
  readonly after: number;
  readonly sessionId: string;
  readonly cwd: string;
  readonly turn: EditorTurn;
}

/** The turn whose questions are asked. */
interface AskedTurn extends Pick<FollowedTurn, "run" | "sessionId" | "cwd"> {
  /** Called when a question could not be asked or answered. */
  failed(): void;
}

/** Asks the editor about the effects of a run, and answers the run. */
class EditorApprovals {
  readonly #about: AskedTurn;
  readonly #editor: Editor;
  readonly #runs: BrainRuns;
  readonly #actions = new Map<string, Action>();
  #asking = new AbortController();
  fault: Fault | undefined;

  constructor(about: AskedTurn, editor: Editor, runs: BrainRuns) {
    this.#about = about;
    this.#editor = editor;
    this.#runs = runs;
  }

  /** Notes an entry: a question that was answered elsewhere is asked no longer. */
  note({ event }: Entry): void {
    if (event.type === "model.replied" && event.action !== undefined) this.#actions.set(event.action.id, event.action);
    if (event.type === "question.answered") this.#asking.abort();
  }

  close(): void {
    this.#asking.abort();
  }

  ask(question: QuestionAsked, cancelled: AbortSignal): void {
    this.#asking = new AbortController();
    this.#answer(question, AbortSignal.any([this.#asking.signal, cancelled])).catch((thrown: unknown) => {
      const fault = asFault(thrown);
      // The question was closed meanwhile: another client answered, or the run ended.
      if (fault.code === "CONFLICT") return;
      this.fault = fault;
      this.#about.failed();
    });
  }

  async #answer(question: QuestionAsked, signal: AbortSignal): Promise<void> {
    const { run, sessionId, cwd } = this.#about;
    const { about, text, options, id } = question;
    const action = about.kind === "approval" ? this.#actions.get(about.action) : undefined;
    const toolCall = action === undefined ? { toolCallId: id, title: text } : editorToolCall(action, cwd);
    const offered = options.filter((option) => option !== CHANGED_YES).map((option) => optionOf(option, question));
    const params = { sessionId, toolCall, options: offered };
    const reply = await this.#editor.ask("session/request_permission", params, signal);
    // The question was closed meanwhile.
    if (reply.kind === "silent" && signal.aborted) return;
    if (reply.kind !== "result") throw new Fault("APPROVAL_UNASKED", reply.why);
    const { outcome } = reply.result;
    const { optionId: chosen, outcome: kind } = isObject(outcome) ? outcome : {};
    // An editor that cancels has cancelled the turn, whose run is stopped.
    if (kind === "cancelled") return;
    if (typeof chosen !== "string" || !options.includes(chosen))
      throw new Fault("APPROVAL_UNASKED", "The editor chose none of the options that it was given.");
    await this.#runs.answer(run, { text: chosen, by: userName(), question: id });
  }
}

function optionOf(option: string, { about, options: [first], language }: QuestionAsked): JsonObject {
  const isWide = option === RUN_WIDE_YES || option === ALWAYS_YES;
  const kind = isWide ? "allow_always" : option === first ? "allow_once" : "reject_once";
  const isOfFile = option === RUN_WIDE_YES && about.kind === "approval";
  const covers = isOfFile ? runWideWords(about.plan, language) : undefined;
  return { optionId: option, name: covers === undefined ? option : `${option} (${covers})`, kind };
}

function show(editor: Editor, sessionId: string, updates: readonly JsonObject[]): void {
  for (const update of updates) editor.tell("session/update", { sessionId, update });
}

function questionWords({ text, options }: QuestionAsked): string {
  return [text, ...options.map((option) => `- ${option}`)].join("\n");
}

function textField(params: JsonObject, field: string): string {
  const value = params[field];
  if (typeof value === "string" && value !== "") return value;
  throw new Fault("BAD_ARGUMENTS", `params.${field} must be text.`);
}

function folderIn(params: JsonObject): string {
  const cwd = textField(params, "cwd");
  if (!isAbsolute(cwd)) throw new Fault("BAD_ARGUMENTS", "params.cwd must be an absolute path.");
  return requireFolder(cwd);
}

/** The task of a prompt: its words, and what it has embedded or links to. */
function taskIn({ prompt }: JsonObject): string {
  const parts = Array.isArray(prompt) ? prompt.map((block: Json) => blockText(block)) : [];
  const task = parts
    .filter((part) => part !== "")
    .join("\n")
    .trim();
  if (task === "" && imagesIn({ prompt }).length > 0) return "Look at this.";
  if (task === "") throw new Fault("BAD_ARGUMENTS", "The prompt has no words.");
  return task.slice(0, RUN_LIMITS.taskChars);
}

/** The commands from files, as the editor lists them. */
function availableCommands(cwd: string): JsonObject {
  const commands = readFileCommands(cwd).map(({ name, description, hint, source }) => ({
    name,
    description: source === "project" ? `${description} (of the project)` : description,
    ...(hint === undefined ? {} : { input: { hint } }),
  }));
  return { sessionUpdate: "available_commands_update", availableCommands: commands };
}

/** The task of a prompt that begins with a command from a file. */
function commandTask(prompt: string, cwd: string): string {
  const [, name = "", typed = ""] = /^\/(\S+)\s*([^]*)$/.exec(prompt) ?? [];
  const command = readFileCommands(cwd).find((one) => one.name === name);
  return command === undefined ? prompt : taskOfCommand(command, typed.trim());
}

/** The images of a prompt. */
function imagesIn({ prompt }: JsonObject): readonly FilePart[] {
  const blocks: readonly Json[] = Array.isArray(prompt) ? prompt : [];
  return blocks.flatMap((block) => {
    if (!isObject(block) || block["type"] !== "image") return [];
    const { data, mimeType } = block;
    return typeof data === "string" && typeof mimeType === "string" ? [{ mediaType: mimeType, data }] : [];
  });
}

function blockText(block: Json): string {
  if (!isObject(block)) return "";
  const { type, text, uri, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource_link" && typeof uri === "string") return uri;
  if (type !== "resource" || !isObject(resource)) return "";
  const { uri: place = "", text: content = "" } = resource;
  return typeof content === "string" && typeof place === "string" ? `${place}:\n${content}` : "";
}
