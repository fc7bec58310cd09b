import { MODEL_LIMITS } from "@vidro/core";
import { TOOLS_IN_TEXT, windowNamedIn } from "@vidro/core/run";
import type { FaultReport, HealTried, ModelEvent, ModelRequest, Usage } from "@vidro/core";

/** What a process has learnt about a model from its server. */
export class LearntFacts {
  /** The server takes no tools: they are described in the text. */
  isInText = false;
  #window: number | undefined;
  #askWindow: (() => Promise<number | undefined>) | undefined;

  /** `askWindow` asks the server for the model's window; it is asked once, after a prompt that fills some of it. */
  constructor(askWindow?: () => Promise<number | undefined>) {
    this.#askWindow = askWindow;
  }

  /** The window of the model, where its server has named it. */
  async window({ inputTokens }: Usage): Promise<{ readonly window?: number }> {
    if (inputTokens >= MODEL_LIMITS.countedTokens) {
      const ask = this.#askWindow;
      this.#askWindow = undefined;
      this.#window ??= await ask?.();
    }
    return this.#window === undefined ? {} : { window: this.#window };
  }

  /** Takes the window that a refusal of the server names. */
  learn({ code, message }: FaultReport): void {
    if (code === "MODEL_CONTEXT_FULL") this.#window = windowNamedIn(message) ?? this.#window;
  }
}

/** A call of a model by which facts are learnt. */
interface LearningCall {
  readonly name: string;
  readonly facts: LearntFacts;
  readonly request: ModelRequest;
  /** Calls the model once; with `isInText` without tools. */
  readonly answer: (isInText: boolean) => AsyncIterable<ModelEvent>;
}

/** Calls the model; a server that refuses tools is asked again without them, and never with them after that. */
export async function* callAsLearnt({ name, facts, request, answer }: LearningCall): AsyncGenerator<ModelEvent> {
  facts.isInText ||= request.inText?.includes(name) === true;
  for (let isInText = facts.isInText; ; isInText = true) {
    let refused: FaultReport | undefined;
    for await (const event of answer(isInText)) {
      if (event.type === "replied")
        yield { ...event, reply: { ...event.reply, ...(await facts.window(event.reply.usage)) } };
      else if (event.type === "failed" && event.fault.code === "MODEL_TOOLLESS" && !isInText) refused = event.fault;
      else {
        if (event.type === "failed") facts.learn(event.fault);
        yield event;
      }
    }
    if (refused === undefined) return;
    facts.isInText = true;
    yield { type: "healed", heal: describedInText(name, refused) };
  }
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
