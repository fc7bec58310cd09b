/* Events that are only for display: dropping all of them changes no state. */

/** A live event: shown to followers and not stored. */
export type LiveEvent = ModelDelta | ModelThinking | ActionOutput;

/** Live: a piece of the model's reply; the pieces join to its text. */
export interface ModelDelta {
  readonly type: "model.delta";
  readonly text: string;
  /** Offset of this piece in the reply, in characters. */
  readonly from: number;
}

/** Live: a piece of what the model thinks before it replies; the pieces join to the thinking among the reply's parts. */
export interface ModelThinking {
  readonly type: "model.thinking";
  readonly text: string;
  /** Offset of this piece in the thinking of the reply, in characters. */
  readonly from: number;
}

/** Live: a piece of a command's output. */
export interface ActionOutput {
  readonly type: "action.output";
  readonly action: string;
  readonly stream: "stdout" | "stderr";
  readonly chunk: string;
  /** Offset of this piece in the stream, in characters; absent when earlier output may have been missed. */
  readonly from?: number;
}

/** The text that a live event adds to what is shown. */
export function liveText(event: LiveEvent): string {
  return event.type === "action.output" ? event.chunk : event.text;
}
