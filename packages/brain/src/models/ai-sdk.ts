import type {
  LanguageModelV4,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { asFault, Fault, MODEL_LIMITS } from "@vidro/core";
import { TOOLS_IN_TEXT } from "@vidro/core/run";
import type { FaultReport, HealTried, Model, ModelEvent, ModelRequest } from "@vidro/core";
import { modelFault } from "./ai-sdk/fault.ts";
import { callOptions, COMPATIBLE } from "./ai-sdk/prompt.ts";
import type { ImagesTaken } from "./ai-sdk/prompt.ts";
import { LearntFacts } from "./ai-sdk/learnt-facts.ts";
import type { KeySource } from "./key-source.ts";
import { withoutTools } from "./ai-sdk/text-prompt.ts";
import { TagReader } from "./ai-sdk/tagged-text.ts";
import { ReplyBuilder } from "./reply-builder.ts";
import { Deadline } from "./call-deadline.ts";
import type { CallDeadlines } from "./call-deadline.ts";

/** Options of a model of the AI SDK. */
export interface AiSdkModelOptions extends Partial<CallDeadlines> {
  /** Name for people. */
  readonly name: string;
  /** Loads the vendor's model at the first call, so that an unused vendor costs nothing, with the key of the source. */
  readonly load: (key?: string) => Promise<LanguageModelV4>;
  /** The vendor's key; it is removed from messages of its server. */
  readonly key?: string;
  /** Where the key is read from instead, also again when the server refuses it. */
  readonly source?: KeySource;
  /** Brings a prompt into the form that only this vendor wants. */
  readonly shapePrompt?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt;
  /** Settings that only this vendor knows. */
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Whether every model behind it calls tools natively, so that its text is prose. */
  readonly native?: true;
  /** The vendor refuses a request that forces a call of a tool. */
  readonly refusesForcedTools?: true;
  /** The vendor gives its thinking in words to who asks for them. */
  readonly showsThinking?: true;
  /** Tokens of the longest reply, where a setting bounds it. */
  readonly answer?: number;
  /** How it takes images that tools give; absent when it takes none. */
  readonly images?: ImagesTaken;
  /** It takes PDFs as files, where it takes images. */
  readonly pdfs?: true;
  /** Tokens of the model's window, where it is known. */
  readonly window?: number;
  /** Asks the server for the window, where it is not known. */
  readonly askWindow?: () => Promise<number | undefined>;
  /** Longest answer. */
  readonly replyChars?: number;
}

/** Any `LanguageModelV4` as a Model; refusals of tools and of a key are healed here, everything else is the engine's. */
export function aiSdkModel(options: AiSdkModelOptions): Model {
  let loaded: { readonly key: string | undefined; readonly model: Promise<LanguageModelV4> } | undefined;
  const load = (key?: string): Promise<LanguageModelV4> => {
    if (loaded !== undefined && loaded.key === key) return loaded.model;
    const model = options.load(key);
    const loading = { key, model };
    loaded = loading;
    model.catch(() => {
      if (loaded === loading) loaded = undefined;
    });
    return model;
  };
  const { name, window, pdfs } = options;
  const facts = new LearntFacts(window === undefined ? options.askWindow : undefined);
  const call: Model["call"] = (request, signal) => answer({ ...options, load, facts }, request, signal);
  const known = { ...(window === undefined ? {} : { window }), ...(pdfs === true ? { takesPdfs: pdfs } : {}) };
  return { name, call, summarises: true, ...known };
}

/** A model that is called, and what its server has told about it. */
interface CalledModel extends AiSdkModelOptions {
  readonly facts: LearntFacts;
}

/**
 * Calls the model. A server that refuses tools is asked again without them, and never with them after that; one that
 * refuses a key which can be read anew is asked once more with the next key.
 */
async function* answer(model: CalledModel, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { name, facts } = model;
  facts.isInText ||= request.inText?.includes(name) === true;
  for (let isInText = facts.isInText, isRenewed = false; ;) {
    const access = await readKey(model);
    const fault =
      "fault" in access ? access.fault : yield* answerOnce({ ...model, ...access, isInText }, request, signal);
    if (fault === undefined) return;
    if (fault.code === "MODEL_TOOLLESS" && !isInText) {
      isInText = facts.isInText = true;
      yield { type: "healed", heal: describedInText(name, fault) };
      continue;
    }
    const renewal = isRenewed || signal.aborted ? undefined : await renewKey(model, fault, access);
    if (renewal?.type === "healed") {
      isRenewed = true;
      yield renewal;
      continue;
    }
    facts.learn(fault);
    return yield renewal ?? { type: "failed", fault };
  }
}

/** The key of a call as its source has it now, or why there is none. */
async function readKey({
  source,
}: CalledModel): Promise<{ readonly key?: string } | { readonly key?: never; readonly fault: FaultReport }> {
  try {
    return source === undefined ? {} : { key: await source.current() };
  } catch (thrown) {
    return { fault: asFault(thrown).report() };
  }
}

/** Reads a refused key anew; undefined when that is not what failed, `failed` when there is no other key. */
async function renewKey({ name, source }: CalledModel, fault: FaultReport, { key }: Pick<AiSdkModelOptions, "key">) {
  if (fault.code !== "MODEL_KEY_REFUSED" || source === undefined || key === undefined) return undefined;
  try {
    if (await source.renew(key)) return { type: "healed", heal: readAnew(name, source.words, fault) } as const;
    const message = `${fault.message} ${source.words} still gives the same key.`;
    return { type: "failed", fault: { ...fault, message } } as const;
  } catch (thrown) {
    return { type: "failed", fault: asFault(thrown).report() } as const;
  }
}

/** One call of a model, with its tools or with their description in the text. */
interface ModelAttempt extends CalledModel {
  readonly isInText: boolean;
}

/** Passes on the reply as it comes; returns the fault of a call that failed. */
async function* answerOnce(
  attempt: ModelAttempt,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, FaultReport | undefined> {
  const { firstTokenMs = MODEL_LIMITS.firstTokenMs, betweenTokensMs = MODEL_LIMITS.betweenTokensMs } = attempt;
  const deadline = new Deadline(signal, { firstTokenMs, betweenTokensMs });
  const native = attempt.native === true ? ({ native: true } as const) : {};
  const incoming = new ReplyBuilder(attempt.name, attempt.replyChars ?? MODEL_LIMITS.replyChars);
  try {
    const { stream, tags } = await openStream(attempt, request, deadline);
    for await (const received of within(stream, deadline)) {
      for (const part of tags?.read(received) ?? [received]) {
        if (part.type === "error") throw part.error;
        if (part.type === "finish") {
          const reply = { ...incoming.finish(part), ...native };
          yield { type: "replied", reply: { ...reply, ...(await attempt.facts.window(reply.usage)) } };
          return undefined;
        }
        const text = incoming.take(part);
        if (text !== undefined && text !== "") yield { type: "delta", text, ...native };
        if (part.type === "reasoning-delta" && part.delta !== "") yield { type: "thinking", text: part.delta };
      }
    }
    throw new Fault("MODEL_CUT", `${attempt.name} ended its answer before it was finished`);
  } catch (thrown) {
    return (await modelFault(thrown, attempt)).report();
  } finally {
    deadline.end();
  }
}

/** Opens the vendor's stream, and a reader of tags where thinking and calls may stand in its text. */
async function openStream(
  attempt: ModelAttempt,
  request: ModelRequest,
  deadline: Deadline,
): Promise<{ readonly stream: ReadableStream<LanguageModelV4StreamPart>; readonly tags: TagReader | undefined }> {
  const model = await deadline.wait(attempt.load(attempt.source === undefined ? undefined : attempt.key));
  const plain = callOptions(request, attempt);
  const asked = { ...plain, prompt: attempt.shapePrompt?.(plain.prompt) ?? plain.prompt };
  const { stream } = await deadline.wait(
    model.doStream({ ...(attempt.isInText ? withoutTools(asked) : asked), abortSignal: deadline.signal }),
  );
  const isNative = !attempt.isInText && (request.native === true || attempt.native === true);
  const isTagged = TAGGED.test(model.provider) && !isNative;
  return { stream, tags: isTagged ? new TagReader(new Set(request.tools.map((tool) => tool.name))) : undefined };
}

/** Models whose servers may pass on thinking and calls as text. */
const TAGGED = new RegExp(`^(?:${COMPATIBLE}|worker)\\b`);

/** The parts of the vendor's stream, each within its deadline. */
async function* within(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  deadline: Deadline,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await deadline.wait(reader.read());
      if (done) return;
      // These two only confirm the request; a server that loads a model is silent for long after them.
      if (value.type !== "stream-start" && value.type !== "response-metadata") deadline.sign();
      yield value;
    }
  } finally {
    // The vendor's stream may be in any state; its errors after the end are ignored.
    reader.cancel().catch(() => undefined);
  }
}

function readAnew(model: string, from: string, { code, message }: FaultReport): HealTried {
  return {
    type: "heal.tried",
    healing: "refresh_token",
    description: `The server of ${model} refused its key. ${from} gave another one, with which it is asked again.`,
    severity: "medium",
    attempt: 1,
    delayMs: 0,
    metadata: { code, cause: message, model },
  };
}

function describedInText(model: string, { code, message }: FaultReport): HealTried {
  return {
    type: "heal.tried",
    healing: TOOLS_IN_TEXT,
    description: `${model} takes no tools; they are described in words, and its actions are read from its text.`,
    severity: "medium",
    attempt: 1,
    delayMs: 0,
    metadata: { code, cause: message, model },
  };
}
