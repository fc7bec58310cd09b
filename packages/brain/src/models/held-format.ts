import { createRequire } from "node:module";
import { runInNewContext } from "node:vm";
import type * as ajv from "ajv/dist/2020.js";
import { addUsage, Fault, isObject, MODEL_LIMITS } from "@vidro/core";
import { createSchemaCompiler, explainMismatch } from "@vidro/core/wire/schema-check";
import type { AnswerFormat, HealTried, Model, ModelEvent, ModelReply, ModelRequest, Usage } from "@vidro/core";

/*
 * Holds the form of an answer. A reply without a call is checked before any of it is passed on; one that does not fit is
 * asked for once more, with what it lacks, and then it is ANSWER_UNFIT. A reply that calls a tool is no answer.
 */

/** Calls a model; with a format, a reply that answers has it. */
export function callInFormat(model: Model, request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
  const format = request.sampling?.format;
  return format === undefined ? model.call(request, signal) : callWithFormat(model, { request, format, signal });
}

/** A call whose answer has a form. */
interface FormattedCall {
  readonly request: ModelRequest;
  readonly format: AnswerFormat;
  readonly signal: AbortSignal;
}

async function* callWithFormat(model: Model, { request, format, signal }: FormattedCall): AsyncGenerator<ModelEvent> {
  const first = { ...request, system: `${request.system}\n${formatRule(format)}` };
  const reply = yield* silently(model, first, signal);
  if (reply === undefined) return;
  const mismatch = mismatchOf(reply, format);
  if (mismatch instanceof Fault) return yield { type: "failed", fault: mismatch.report() };
  if (mismatch === undefined) return yield* replayReply(reply, NOTHING);
  yield { type: "healed", heal: askedAgain(mismatch) };
  const again = yield* silently(model, { ...first, turns: [...first.turns, ...correction(reply, mismatch)] }, signal);
  if (again === undefined) return;
  const still = mismatchOf(again, format);
  if (still === undefined) return yield* replayReply(again, reply.usage);
  const fault = still instanceof Fault ? still : new Fault("ANSWER_UNFIT", `The answer does not fit: ${still}.`);
  yield { type: "failed", fault: fault.report() };
}

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

/** Passes on everything but the words and the reply, and returns the reply; undefined when the call failed. */
async function* silently(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, ModelReply | undefined> {
  for await (const event of model.call(request, signal)) {
    if (event.type === "replied") return event.reply;
    if (event.type !== "delta") yield event;
  }
  return undefined;
}

async function* replayReply(reply: ModelReply, before: Usage): AsyncGenerator<ModelEvent> {
  const { text, native } = reply;
  if (text !== "") yield { type: "delta", text, ...(native === undefined ? {} : { native }) };
  yield { type: "replied", reply: { ...reply, usage: addUsage(before, reply.usage) } };
}

/** The same as the parameter, in words: not every model has the parameter. */
function formatRule({ schema, description }: AnswerFormat): string {
  const meaning = description === undefined || description === "" ? "" : ` It is: ${description}`;
  const shape = schema === undefined ? "one JSON object" : `JSON that fits this JSON Schema: ${JSON.stringify(schema)}`;
  return `When you answer, answer with ${shape}${schema === undefined ? "." : ""}\nNo other words, no code fence.${meaning}`;
}

function correction({ text }: ModelReply, mismatch: string): ModelRequest["turns"] {
  return [
    { role: "assistant", text },
    { role: "user", text: `That answer does not fit: ${mismatch}. Answer again with the JSON alone.` },
  ];
}

function askedAgain(mismatch: string): HealTried {
  return {
    type: "heal.tried",
    healing: "ask_again",
    description: `The answer does not fit (${mismatch}); the model is asked again.`,
    severity: "medium",
    attempt: 1,
    delayMs: 0,
    metadata: { code: "ANSWER_UNFIT", cause: mismatch },
  };
}

/** What a reply lacks; undefined when it fits or calls a tool, a Fault when the schema itself cannot be used. */
function mismatchOf({ text, calls, cutShort }: ModelReply, format: AnswerFormat): string | Fault | undefined {
  // A reply that reached its length limit is incomplete, and its caller is told so.
  if (calls.length > 0 || cutShort === true) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  if (format.schema === undefined) return isObject(value) ? undefined : "it is not a JSON object";
  return schemaMismatch(format.schema, value);
}

const require = createRequire(import.meta.url);

/** A caller's schema is not trusted: it is compiled and used within a time limit, and kept nowhere. */
function schemaMismatch(schema: object, value: unknown): string | Fault | undefined {
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof ajv;
  const check = (): string | undefined => {
    const validate = createSchemaCompiler(Ajv2020, { strict: false, logger: false }).compile(schema);
    return explainMismatch(validate, value, "the answer")?.slice(0, MODEL_LIMITS.mismatchChars);
  };
  try {
    return runInNewContext("check()", { check }, { timeout: MODEL_LIMITS.formatMs }) as string | undefined;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return new Fault("BAD_ARGUMENTS", `The schema of the answer cannot be used: ${reason}`);
  }
}
