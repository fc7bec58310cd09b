import type { RemarkMade, Turn } from "../event.ts";
import { Fault } from "../fault.ts";
import { RUN_LIMITS } from "../limits.ts";
import { pushTurn } from "./turns.ts";
import type { Turns } from "./turns.ts";

/** A remark as a turn of the conversation. */
function remarkTurn({ by, text }: RemarkMade): Turn {
  return { role: "user", text: `[${by} says while you work]\n${text}`, isRemark: true };
}

/** The remarks that the model has not been told yet, as the last turns of its next prompt. */
export function tellRemarks({ turns, remarks, toldRemarks }: Heard): Partial<Heard> {
  if (toldRemarks === remarks.length) return {};
  const told = remarks.slice(toldRemarks).reduce((all, remark) => pushTurn(all, remarkTurn(remark)), turns);
  return { turns: told, toldRemarks: remarks.length };
}

/** The conversation, what people said, and how much of that the model was told. */
interface Heard {
  readonly turns: Turns;
  readonly remarks: readonly RemarkMade[];
  readonly toldRemarks: number;
}

/** Whether a turn is a task: words of a person that are no remark to a run at work. */
export function isTask(turn: Turn): turn is Extract<Turn, { role: "user" }> {
  return turn.role === "user" && turn.isRemark !== true;
}

/** The event of a remark; undefined when it is recorded already. CONFLICT when the run cannot take it. */
export function acceptRemark(
  { remarks, phase }: { readonly remarks: readonly RemarkMade[]; readonly phase: { readonly name: string } },
  remark: Omit<RemarkMade, "type">,
): RemarkMade | undefined {
  const same = remarks.find(({ id }) => id === remark.id);
  if (same !== undefined) {
    if (same.text === remark.text) return undefined;
    throw new Fault("CONFLICT", `The key ${remark.id} belongs to another message of this run. Use a new key.`);
  }
  if (phase.name === "ended") throw new Fault("CONFLICT", "The run is over.");
  if (remarks.length >= RUN_LIMITS.remarks) {
    const message = `A run takes at most ${RUN_LIMITS.remarks} messages. Wait for its end and go on in its thread.`;
    throw new Fault("CONFLICT", message);
  }
  return { type: "remark.made", ...remark };
}
