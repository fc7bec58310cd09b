import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Fault, MIB, WORKER_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { WorkerMessage, WorkerParams, WorkerStopReason } from "@vidro/core/wire/worker";
import type {
  ChatItem,
  ChatWrapper,
  Llama,
  LlamaChat,
  LlamaContext,
  LlamaGrammar,
  LlamaModel,
  LlamaModule,
} from "./llama-module.ts";

/** The model to load, and its share of the machine. */
export interface EngineOptions {
  /** Folder in which the engine is installed. */
  readonly folder: string;
  /** The model: a GGUF file. */
  readonly model: string;
  /** Threads of one evaluation; by default half of the processor's. */
  readonly threads?: number;
  /** Tokens of the context of one generation; by default what the model allows, up to the limit. */
  readonly contextTokens?: number;
  /** Most memory that the model and its contexts may take; by default what is free. */
  readonly memoryBytes?: number;
}

/** A form that an answer is held to. */
export type AnswerForm = LlamaGrammar;

/** One answer to be generated. */
export interface Generation {
  readonly messages: readonly WorkerMessage[];
  readonly params: WorkerParams;
  readonly form?: AnswerForm;
  readonly signal: AbortSignal;
  /** Gets the text as it comes. */
  readonly onText: (text: string) => void;
}

/** How a generation ended. */
export interface GenerationEnd {
  readonly reason: WorkerStopReason;
  /** Tokens of the prompt, those of them that had been evaluated before, and tokens of the answer. */
  readonly usage: { readonly input_tokens: number; readonly cached_tokens: number; readonly output_tokens: number };
}

/** A loaded model with contexts for several generations at once. */
export interface Engine {
  /** Facts about the model, for `status`. */
  readonly info: JsonObject;
  /** Generations at the same time. */
  readonly slots: number;
  /** A form of answers by its grammar; BAD_REQUEST when the engine does not take it. */
  makeForm(grammar: string): AnswerForm;
  /** Generates in a slot that no other generation uses; what the slot has evaluated before is not evaluated again. */
  generate(slot: number, generation: Generation): Promise<GenerationEnd>;
  /** Frees the model. */
  close(): Promise<void>;
}

/** Loads a model; a Fault says what is wrong with the file, or that memory is short. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { model: modelPath, memoryBytes = process.availableMemory() - WORKER_LIMITS.spareBytes } = options;
  requireMemory(modelPath, { needed: statSync(modelPath).size, most: memoryBytes });
  const module = await loadModule(options.folder);
  const notes: string[] = [];
  const llama = await module.getLlama({
    // A graphics processor is used by the packages that have one; this one computes on the processor.
    gpu: false,
    build: "never",
    progressLogs: false,
    logLevel: "error",
    logger: (_, message) => void (notes.length < NOTES && notes.push(message.trim())),
  });
  try {
    const model = await llama.loadModel({ modelPath });
    const context = await makeContext(model, { ...options, memoryBytes });
    return new LlamaEngine({ module, llama, model, context, name: basename(modelPath, ".gguf") });
  } catch (thrown) {
    await llama.dispose().catch(() => undefined);
    if (thrown instanceof Fault) throw thrown;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const words = [why, ...notes].join("; ").slice(0, WORKER_LIMITS.errorChars);
    throw new Fault("BAD_REQUEST", `${modelPath} cannot be loaded: ${words}`, { cause: thrown });
  }
}

/** Lines of the engine's log that an error repeats. */
const NOTES = 8;

async function loadModule(folder: string): Promise<LlamaModule> {
  const path = join(folder, "node_modules/node-llama-cpp/dist/index.js");
  return (await import(pathToFileURL(path).href)) as LlamaModule;
}

/** Makes a context for every slot. The engine ends the process when memory is short, so it is counted before. */
async function makeContext(
  model: LlamaModel,
  { model: path, threads, contextTokens, memoryBytes }: EngineOptions & { readonly memoryBytes: number },
): Promise<LlamaContext> {
  const most = Math.min(model.trainContextSize, contextTokens ?? WORKER_LIMITS.contextTokens);
  const shape = { contextSize: most, modelGpuLayers: 0, sequences: WORKER_LIMITS.slots };
  const { cpuRam } = await model.fileInsights.estimateContextResourceRequirementsV2(shape);
  requireMemory(path, { needed: statSync(path).size + cpuRam, most: memoryBytes });
  return model.createContext({
    sequences: WORKER_LIMITS.slots,
    threads: threads ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    contextSize: { max: most },
  });
}

function requireMemory(model: string, { needed, most }: { readonly needed: number; readonly most: number }): void {
  if (needed <= most) return;
  const mib = (bytes: number): number => Math.max(0, Math.ceil(bytes / MIB));
  const why = `it needs ${mib(needed)} MiB, and ${mib(most)} MiB may be used`;
  throw new Fault(
    "BAD_REQUEST",
    `${model} does not fit the memory: ${why}. Use a smaller model, or a smaller --context.`,
  );
}

interface LoadedParts {
  readonly module: LlamaModule;
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly name: string;
}

class LlamaEngine implements Engine {
  readonly info: JsonObject;
  readonly slots = WORKER_LIMITS.slots;
  readonly #parts: LoadedParts;
  readonly #wrapper: ChatWrapper;
  readonly #chats: readonly LlamaChat[];

  constructor(parts: LoadedParts) {
    const { module, llama, model, context, name } = parts;
    this.#parts = parts;
    this.#wrapper = chatWrapperOf(module, model);
    this.#chats = Array.from(
      { length: this.slots },
      () => new module.LlamaChat({ contextSequence: context.getSequence(), chatWrapper: this.#wrapper }),
    );
    this.info = {
      name,
      type: model.typeDescription,
      size_bytes: model.size,
      context_tokens: context.contextSize,
      train_context_tokens: model.trainContextSize,
      chat_template: this.#wrapper.wrapperName,
      gpu: llama.gpu,
    };
  }

  makeForm(grammar: string): AnswerForm {
    try {
      return new this.#parts.module.LlamaGrammar(this.#parts.llama, { grammar });
    } catch (cause) {
      throw new Fault("BAD_REQUEST", "The engine cannot hold answers to the schemas of these tools.", { cause });
    }
  }

  async generate(slot: number, { messages, params, form, signal, onText }: Generation): Promise<GenerationEnd> {
    const chat = this.#chats[slot]!;
    const history = [...messages.map(chatItem), { type: "model", response: [] } as const];
    const room = this.#parts.context.contextSize - this.#tokensOf(history);
    const { sequence } = chat;
    const before = { ...meterOf(chat) };
    const { metadata } = await chat.generateResponse(history, {
      onTextChunk: onText,
      signal,
      stopOnAbortSignal: true,
      maxTokens: Math.min(params.maxTokens ?? WORKER_LIMITS.answerTokens, room),
      contextShift: { size: 1 },
      ...(params.temperature === undefined ? {} : { temperature: params.temperature }),
      ...(params.topP === undefined ? {} : { topP: params.topP }),
      ...(params.seed === undefined ? {} : { seed: params.seed }),
      ...(params.repeatPenalty === undefined ? {} : { repeatPenalty: { penalty: params.repeatPenalty } }),
      ...(params.stop.length === 0 ? {} : { customStopTriggers: params.stop }),
      ...(form === undefined ? {} : { grammar: form }),
    });
    const { input, output } = meterOf(chat);
    const evaluated = input - before.input;
    const answered = output - before.output;
    const total = Math.max(evaluated, sequence.nextTokenIndex - answered);
    const { stopReason } = metadata;
    const reason = stopReason === "abort" ? "aborted" : stopReason === "maxTokens" ? "length" : "stop";
    return { reason, usage: { input_tokens: total, cached_tokens: total - evaluated, output_tokens: answered } };
  }

  async close(): Promise<void> {
    await this.#parts.llama.dispose();
  }

  /** The tokens of a conversation; MODEL_REFUSED when they leave no room for an answer. */
  #tokensOf(history: readonly ChatItem[]): number {
    const { model, context } = this.#parts;
    const { length } = this.#wrapper
      .generateContextState({ chatHistory: history })
      .contextText.tokenize(model.tokenizer);
    if (length < context.contextSize - 1) return length + 1;
    throw new Fault(
      "MODEL_REFUSED",
      `The conversation has ${length} tokens, and the context takes ${context.contextSize}.`,
    );
  }
}

/** The chat template of the model's own file; where it has none that works, one that fits its kind. */
function chatWrapperOf(module: LlamaModule, model: LlamaModel): ChatWrapper {
  const template = model.fileInfo.metadata.tokenizer?.chat_template;
  try {
    if (template !== undefined) return new module.JinjaTemplateChatWrapper({ template, tokenizer: model.tokenizer });
  } catch {
    // The template has something that this engine does not render.
  }
  return module.resolveChatWrapper(model);
}

function meterOf({ sequence: { tokenMeter } }: LlamaChat): { readonly input: number; readonly output: number } {
  return { input: tokenMeter.usedInputTokens, output: tokenMeter.usedOutputTokens };
}

function chatItem({ role, content }: WorkerMessage): ChatItem {
  return role === "assistant" ? { type: "model", response: [content] } : { type: role, text: content };
}
