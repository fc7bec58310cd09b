import { randomUUID } from "node:crypto";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { MODEL_LIMITS } from "@vidro/core";
import { readBrokenCall, readCalls } from "./written-call.ts";
import type { WrittenCall } from "./written-call.ts";

/*
 * Servers of open models without a parser of their own pass on what the model wrote: thinking between <think> tags, calls
 * between <tool_call> tags. Here both become parts of the stream, as other servers give them. A call counts only when it
 * names a tool of the request and the reply has no native call: otherwise the tags are words.
 */

/** Key of the data of parts that the model wrote between tags. */
export const WRITTEN = "written";

type Part = LanguageModelV4StreamPart;

const CALL_OPENS = "<tool_call>";
const CALL_CLOSES = "</tool_call>";
/** Thinking opens at the beginning of a line; a call opens anywhere but in code within a line, with its fence before it. */
const OPENS = /(?:^|(?<=\n))[ \t]*<(think|thinking)>|(?<!`)((?:(?:^|(?<=\n))[ \t]*```\w*[ \t]*\n\s*)?<tool_call>)/;
/** The end of a text that may be the beginning of one of those, or of a closing tag. */
const MAY_OPEN = /(?:(?:^|(?<=\n))[ \t]*(?:`{1,2}|```\w*[ \t]*(?:\n\s*)?)?)?(?:<[a-z_/]{0,10})?$/;
/** Closing tag of thinking that the template of the prompt has opened. */
const UNOPENED = /(?:^|(?<=\n))[ \t]*<\/(?:think|thinking)>/;

/** A call between tags, and the text that it was. */
interface HeldCall {
  readonly calls: readonly WrittenCall[];
  readonly text: string;
}

/** Reads thinking and calls of these tools from the text of one reply. */
export class TagReader {
  #hasNativeCall = false;
  readonly #tools: ReadonlySet<string>;
  /** Calls so far: whether they are calls is known at the end. */
  readonly #calls: HeldCall[] = [];
  #mode: "text" | "thinking" | "call" = "text";
  /** Text of the current mode that is not passed on yet; of a call, all of it with its opening tag. */
  #held = "";
  /** Closing tag of the thinking, and whether thinking was found. */
  #closing = "";
  #hasThought = false;
  /** Thinking that is not closed yet: a call may stand in it. */
  #thought = "";
  #isFenced = false;
  /** Characters of a call in which its end was looked for. */
  #scanned = 0;
  /** Number of the current passage: each one is a part of its own. */
  #passage = 0;
  /** Text at the beginning of the reply is not in a line that has begun. */
  #isLineBegun = false;

  constructor(tools: ReadonlySet<string>) {
    this.#tools = tools;
  }

  /** The parts that a part of the server's stream comes to. */
  *read(part: Part): Generator<Part> {
    if (part.type === "text-delta") return yield* this.#push(part.delta);
    if (part.type === "text-start" || part.type === "text-end") return;
    if (part.type === "tool-call" || part.type === "tool-input-start") this.#hasNativeCall = true;
    if (part.type === "finish") yield* this.#end();
    yield part;
  }

  *#push(piece: string): Generator<Part> {
    this.#held += piece;
    for (let before = ""; before !== `${this.#mode} ${this.#held.length}`;) {
      before = `${this.#mode} ${this.#held.length}`;
      if (this.#mode === "text") yield* this.#readText();
      else if (this.#mode === "thinking") yield* this.#readThinking();
      else yield* this.#readCall();
    }
  }

  /** What is left when nothing more comes: an unclosed tag is closed by the end. */
  *#end(): Generator<Part> {
    if (this.#mode === "thinking") yield* this.#endThinking();
    if (this.#mode === "call") this.#endCall();
    yield* this.#say(this.#held);
    this.#held = "";
    for (const { calls, text } of this.#calls) {
      if (this.#hasNativeCall) yield* this.#say(text);
      else for (const call of calls) yield callPart(call);
    }
  }

  *#readText(): Generator<Part> {
    if (this.#isFenced) {
      const closed = /^\s*```[ \t]*\n?/.exec(this.#held);
      if (closed === null && /^\s*`{0,2}$/.test(this.#held)) return;
      this.#held = this.#held.slice(closed?.[0].length ?? 0);
      this.#isFenced = false;
    }
    // A line that was passed on in part is no beginning of a line.
    const shift = this.#isLineBegun ? "\0" : "";
    const opening = OPENS.exec(shift + this.#held);
    const unopened = this.#hasThought ? null : UNOPENED.exec(shift + this.#held);
    if (unopened !== null && unopened.index < (opening?.index ?? Infinity))
      return yield* this.#endUnopened(unopened[0]);
    if (opening !== null) {
      const at = opening.index - shift.length;
      yield* this.#say(this.#held.slice(0, at));
      this.#open(opening, at);
      return;
    }
    const held = MAY_OPEN.exec(shift + this.#held)?.[0].length ?? 0;
    const said = this.#held.slice(0, this.#held.length - held);
    this.#held = this.#held.slice(said.length);
    yield* this.#say(said);
  }

  #open([tag, thinking, call = ""]: RegExpExecArray, at: number): void {
    this.#passage += 1;
    if (thinking === undefined) {
      this.#mode = "call";
      this.#isFenced = call.includes("```");
      this.#held = this.#held.slice(at);
    } else {
      this.#mode = "thinking";
      this.#closing = `</${thinking}>`;
      this.#hasThought = true;
      this.#held = this.#held.slice(at + tag.length);
    }
  }

  /** The text so far was thinking whose opening tag stood in the prompt. */
  *#endUnopened(tag: string): Generator<Part> {
    const at = this.#held.indexOf(tag);
    yield* this.#say(this.#held.slice(0, at));
    yield { type: "text-end", id: this.#id(), providerMetadata: { [WRITTEN]: { thinking: true } } };
    this.#held = this.#held.slice(at + tag.length);
    this.#hasThought = true;
    this.#passage += 1;
    this.#isLineBegun = false;
  }

  *#readThinking(): Generator<Part> {
    const at = this.#held.indexOf(this.#closing);
    const kept = at === -1 ? prefixAtEnd(this.#held, this.#closing) : 0;
    const words = at === -1 ? this.#held.slice(0, this.#held.length - kept) : this.#held.slice(0, at);
    yield* this.#think(words);
    this.#held = this.#held.slice(words.length);
    if (at === -1) return;
    this.#held = this.#held.slice(this.#closing.length);
    this.#leave();
  }

  /** Thinking without an end: the model may have called a tool in it, or it has only thought. */
  *#endThinking(): Generator<Part> {
    yield* this.#think(this.#held);
    const at = this.#thought.lastIndexOf(CALL_OPENS);
    const body = at === -1 ? "" : this.#thought.slice(at);
    this.#held = "";
    this.#leave();
    const calls = readCalls(bodyOf(body), this.#tools);
    if (calls !== undefined) this.#calls.push({ calls, text: "" });
  }

  *#readCall(): Generator<Part> {
    // Too long for a reply: it is passed on to be counted.
    if (this.#held.length > MODEL_LIMITS.replyChars) {
      yield* this.#say(this.#held);
      this.#held = "";
    }
    const from = Math.max(0, this.#scanned - CALL_CLOSES.length);
    this.#scanned = this.#held.length;
    // The arguments may hold the closing tag: the call ends where it can be read.
    for (let at = this.#held.indexOf(CALL_CLOSES, from); at !== -1; at = this.#held.indexOf(CALL_CLOSES, at + 1)) {
      const text = this.#held.slice(0, at + CALL_CLOSES.length);
      const calls = readCalls(bodyOf(text), this.#tools);
      if (calls === undefined) continue;
      this.#calls.push({ calls, text });
      this.#held = this.#held.slice(text.length);
      this.#leave();
      return;
    }
  }

  /** A call without an end, or one that cannot be read: it is whole, broken, or no call at all. */
  #endCall(): void {
    const text = this.#held;
    const bodies = text
      .split(CALL_OPENS)
      .slice(1)
      .map((body) => body.split(CALL_CLOSES)[0] ?? "");
    const calls = bodies.map((body) => {
      const broken = readBrokenCall(body, this.#tools);
      return readCalls(body, this.#tools) ?? (broken === undefined ? undefined : [broken]);
    });
    this.#leave();
    if (!calls.every((call) => call !== undefined)) return;
    this.#calls.push({ calls: calls.flat(), text });
    this.#held = "";
  }

  #leave(): void {
    this.#mode = "text";
    this.#thought = "";
    this.#scanned = 0;
    this.#passage += 1;
    this.#isLineBegun = false;
  }

  *#say(text: string): Generator<Part> {
    if (text === "") return;
    this.#isLineBegun = !text.endsWith("\n");
    yield { type: "text-delta", id: this.#id(), delta: text };
  }

  *#think(text: string): Generator<Part> {
    if (text === "") return;
    this.#thought += text;
    const providerMetadata = { [WRITTEN]: { tag: this.#closing.slice("</".length, -1) } };
    yield { type: "reasoning-delta", id: this.#id(), delta: text, providerMetadata };
  }

  #id(): string {
    return `${WRITTEN}-${this.#passage}`;
  }
}

/** The text between the tags of a call. */
function bodyOf(text: string): string {
  const from = text.indexOf(CALL_OPENS);
  const to = text.lastIndexOf(CALL_CLOSES);
  return text.slice(from === -1 ? 0 : from + CALL_OPENS.length, to === -1 ? undefined : to);
}

/** The length of the longest end of a text with which a tag may begin. */
function prefixAtEnd(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--)
    if (tag.startsWith(text.slice(-length))) return length;
  return 0;
}

function callPart({ tool, input }: WrittenCall): Part {
  return {
    type: "tool-call",
    toolCallId: `call_${randomUUID().slice(0, 8)}`,
    toolName: tool,
    input,
    providerMetadata: { [WRITTEN]: { tag: "tool_call" } },
  };
}
