/* The part of node-llama-cpp that the engine uses. The package is installed when it is needed, so its types are here. */

/** The package. */
export interface LlamaModule {
  getLlama(options: {
    readonly gpu: "auto" | false;
    readonly build: "never";
    readonly progressLogs: false;
    readonly logLevel: string;
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
  readonly LlamaChat: new (options: {
    readonly contextSequence: LlamaSequence;
    readonly chatWrapper: ChatWrapper;
  }) => LlamaChat;
  readonly LlamaGrammar: new (llama: Llama, options: { readonly grammar: string }) => LlamaGrammar;
  readonly JinjaTemplateChatWrapper: new (options: {
    readonly template: string;
    readonly tokenizer: unknown;
  }) => ChatWrapper;
  resolveChatWrapper(model: LlamaModel): ChatWrapper;
}

/** A held form of an answer. */
export interface LlamaGrammar {
  readonly grammar: string;
}

/** The engine of one process. */
export interface Llama {
  readonly gpu: string | false;
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

/** A loaded model. */
export interface LlamaModel {
  readonly trainContextSize: number;
  readonly size: number;
  readonly typeDescription: string;
  readonly fileInfo: { readonly metadata: { readonly tokenizer?: { readonly chat_template?: string } } };
  readonly fileInsights: {
    estimateContextResourceRequirementsV2(options: {
      readonly contextSize: number;
      readonly modelGpuLayers: number;
      readonly sequences: number;
    }): Promise<{ readonly cpuRam: number }>;
  };
  readonly tokenizer: unknown;
  createContext(options: {
    readonly sequences: number;
    readonly threads: number;
    readonly contextSize: { readonly max: number };
  }): Promise<LlamaContext>;
}

/** Evaluated tokens of several sequences. */
export interface LlamaContext {
  readonly contextSize: number;
  getSequence(): LlamaSequence;
}

/** The evaluated tokens of one conversation. */
export interface LlamaSequence {
  readonly nextTokenIndex: number;
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number };
}

/** The chat template of a model. */
export interface ChatWrapper {
  readonly wrapperName: string;
  generateContextState(options: { readonly chatHistory: readonly ChatItem[] }): {
    readonly contextText: { tokenize(tokenizer: unknown): readonly unknown[] };
  };
}

/** A message of a conversation. */
export type ChatItem =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: readonly string[] };

/** Generates answers in a sequence. */
export interface LlamaChat {
  readonly sequence: LlamaSequence;
  generateResponse(
    history: readonly ChatItem[],
    options: {
      readonly onTextChunk: (text: string) => void;
      readonly signal: AbortSignal;
      readonly stopOnAbortSignal: true;
      readonly maxTokens: number;
      readonly temperature?: number;
      readonly topP?: number;
      readonly seed?: number;
      readonly repeatPenalty?: { readonly penalty: number };
      readonly customStopTriggers?: readonly string[];
      readonly grammar?: LlamaGrammar;
      readonly contextShift: { readonly size: number };
    },
  ): Promise<{ readonly metadata: { readonly stopReason: string } }>;
}
