import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { Fault, MODEL_LIMITS } from "@vidro/core";
import type { Model, ModelEvent, ModelRequest } from "@vidro/core";
import { modelFault } from "./ai-sdk/fault.ts";
import { callOptions, COMPATIBLE } from "./ai-sdk/prompt.ts";
import { callAsLearnt, LearntFacts } from "./ai-sdk/learnt-facts.ts";
import { withoutTools } from "./ai-sdk/text-prompt.ts";
import { readTags } from "./ai-sdk/tagged-text.ts";
import { ReplyBuilder } from "./reply-builder.ts";
import { Deadline } from "./call-deadline.ts";
import type { CallDeadlines } from "./call-deadline.ts";

/** Options of a model of the AI SDK. */
export interface AiSdkModelOptions extends Partial<CallDeadlines> {
  /** Name for people. */
  readonly name: string;
  /** Loads the vendor's model at the first call, so that an unused vendor costs nothing. */
  readonly load: () => Promise<LanguageModelV4>;
  /** The vendor's key; it is removed from messages of its server. */
  readonly key?: string;
  /** Settings that only this vendor knows. */
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Whether every model behind it calls tools natively, so that its text is prose. */
  readonly native?: true;
  /** The vendor refuses a request that forces a call of a tool. */
  readonly refusesForcedTools?: true;
  /** Tokens of the model's window, where it is known. */
  readonly window?: number;
  /** Asks the server for the window, where it is not known. */
  readonly askWindow?: () => Promise<number | undefined>;
  /** Longest answer. */
  readonly replyChars?: number;
}

/** Any `LanguageModelV4` as a Model; only a refusal of tools is healed here, everything else is the engine's. */
export function aiSdkModel(options: AiSdkModelOptions): Model {
  let loaded: Promise<LanguageModelV4> | undefined;
  const load = (): Promise<LanguageModelV4> => {
    loaded ??= options.load().catch((thrown: unknown) => {
      loaded = undefined;
      throw thrown;
    });
    return loaded;
  };
  const { name, window } = options;
  const facts = new LearntFacts(window === undefined ? options.askWindow : undefined);
  const call: Model["call"] = (request, signal) =>
    callAsLearnt({
      name,
      facts,
      request,
      answer: (isInText) => answer({ ...options, load, isInText }, request, signal),
    });
  return { name, call, summarises: true, ...(window === undefined ? {} : { window }) };
}

/** A model that is called, and whether its tools are described in the text. */
interface CalledModel extends AiSdkModelOptions {
  readonly isInText: boolean;
}

async function* answer(options: CalledModel, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { firstTokenMs = MODEL_LIMITS.firstTokenMs, betweenTokensMs = MODEL_LIMITS.betweenTokensMs } = options;
  const deadline = new Deadline(signal, { firstTokenMs, betweenTokensMs });
  const native = options.native === true ? ({ native: true } as const) : {};
  const incoming = new ReplyBuilder(options.name, options.replyChars ?? MODEL_LIMITS.replyChars);
  try {
    for await (const part of parts(options, request, deadline)) {
      if (part.type === "error") throw part.error;
      if (part.type === "finish") {
        const reply = incoming.finish(part);
        yield { type: "replied", reply: { ...reply, ...native } };
        return;
      }
      const text = incoming.take(part);
      if (text !== undefined && text !== "") yield { type: "delta", text, ...native };
    }
    throw new Fault("MODEL_CUT", `${options.name} ended its answer before it was finished`);
  } catch (thrown) {
    yield { type: "failed", fault: (await modelFault(thrown, options)).report() };
  } finally {
    deadline.end();
  }
}

/** The parts of the vendor's stream, each within its deadline. */
async function* parts(
  options: CalledModel,
  request: ModelRequest,
  deadline: Deadline,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const model = await deadline.wait(options.load());
  const asked = callOptions(request, options);
  const { stream } = await deadline.wait(
    model.doStream({ ...(options.isInText ? withoutTools(asked) : asked), abortSignal: deadline.signal }),
  );
  const received = within(stream, deadline);
  const isNative = !options.isInText && (request.native === true || options.native === true);
  const isTagged = TAGGED.test(model.provider) && !isNative;
  yield* isTagged ? readTags(received, new Set(request.tools.map((tool) => tool.name))) : received;
}

/** Models whose servers may pass on thinking and calls as text. */
const TAGGED = new RegExp(`^(?:${COMPATIBLE}|worker)\\b`);

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
