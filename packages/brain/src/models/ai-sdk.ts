import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { Fault, MODEL_LIMITS } from "@vidro/core";
import type { Model, ModelEvent, ModelRequest } from "@vidro/core";
import { modelFault } from "./ai-sdk-fault.ts";
import { callOptions } from "./ai-sdk-prompt.ts";
import { ReplyBuilder } from "./reply-builder.ts";
import { Deadline } from "./call-deadline.ts";
import type { CallDeadlines } from "./call-deadline.ts";

/** What a model of the AI SDK needs beside itself. */
export interface AiSdkModelOptions extends Partial<CallDeadlines> {
  /** As a person would name it. */
  readonly name: string;
  /** Gives the vendor's model; called at the first call, so that a vendor that is not used costs nothing. */
  readonly load: () => Promise<LanguageModelV4>;
  /** The key that the vendor's model was given: it is struck out of what its server says. */
  readonly key?: string;
  /** Settings that only this vendor knows. */
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Whether every model behind it calls tools natively, so that what it writes is prose. */
  readonly native?: true;
  /** Longest answer. */
  readonly replyChars?: number;
}

/** Any `LanguageModelV4` as a Model; nothing is tried twice, healing is the engine's. */
export function aiSdkModel(options: AiSdkModelOptions): Model {
  let loaded: Promise<LanguageModelV4> | undefined;
  const load = (): Promise<LanguageModelV4> => {
    loaded ??= options.load().catch((thrown: unknown) => {
      loaded = undefined;
      throw thrown;
    });
    return loaded;
  };
  return { name: options.name, call: (request, signal) => answer({ ...options, load }, request, signal) };
}

async function* answer(
  options: AiSdkModelOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
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

/** The parts of the vendor's stream as they come, each within its time. */
async function* parts(
  options: AiSdkModelOptions,
  request: ModelRequest,
  deadline: Deadline,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const model = await deadline.wait(options.load());
  const { stream } = await deadline.wait(
    model.doStream({ ...callOptions(request, options.providerOptions), abortSignal: deadline.signal }),
  );
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await deadline.wait(reader.read());
      if (done) return;
      // These two only say that the request arrived; a server that loads a model is silent after them for long.
      if (value.type !== "stream-start" && value.type !== "response-metadata") deadline.sign();
      yield value;
    }
  } finally {
    // The vendor's stream may be in any state; what it thinks of being dropped interests nobody.
    reader.cancel().catch(() => undefined);
  }
}
