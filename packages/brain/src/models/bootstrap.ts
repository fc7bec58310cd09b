import { BOOTSTRAP, isLook, isTask, nextLook, taskBeforeDigest } from "@vidro/core/run";
import type { Look, LookTexts } from "@vidro/core/run";
import type { Model, ModelCall, ModelEvent, ModelRequest, Turn } from "@vidro/core";

/**
 * A model that first makes the calls of the bootstrap and then passes every request to another model. Its calls follow
 * from the conversation alone, so that a resumed run continues where it was.
 */
export function bootstrapModel<Inner extends Model>(inner: Inner): Inner {
  return {
    ...inner,
    name: `${BOOTSTRAP}${inner.name}`,
    call: (request: ModelRequest, signal: AbortSignal) => {
      const look = isLooking(request.turns) ? nextLook(textsIn(request.turns), request.tools) : undefined;
      return look === undefined ? inner.call(request, signal) : replyWith(look, `${BOOTSTRAP}${inner.name}`);
    },
  };
}

async function* replyWith(call: ModelCall, model: string): AsyncGenerator<ModelEvent> {
  const usage = { inputTokens: 0, outputTokens: 0 };
  yield { type: "replied", reply: { model, text: "", calls: [call], usage } };
}

/** Whether the conversation has only bootstrap calls since the task; compaction may have removed them. */
function isLooking(turns: readonly Turn[]): boolean {
  const task = turns.findLast(isTask);
  if (task === undefined || taskBeforeDigest(task.text) !== task.text) return false;
  const first = turns.findIndex((turn) => turn.role === "assistant" && turn.action && isLook(turn.action));
  if (first === -1) return turns.at(-1) === task;
  return turns.slice(first).every((turn) => {
    if (turn.role === "assistant") return turn.action !== undefined && isLook(turn.action);
    return (turn.role === "user" && turn.isRemark === true) || (turn.role === "tool" && isLook(turn));
  });
}

function textsIn(turns: readonly Turn[]): LookTexts {
  const texts: { [look in Look]?: string } = {};
  for (const turn of turns)
    if (turn.role === "tool" && isLook(turn)) texts[turn.callId as Look] = turn.failed ? "" : turn.text;
  return texts;
}
