import { Fault } from "@vidro/core";
import type { Action, Ended, Hand, HandEvent, JsonObject, ToolSpec } from "@vidro/core";
import type { RemoteHand } from "./remote-hand.ts";

/** The field of an input that says where it is to be done. */
const WHERE = "hand";

/**
 * Several hands as one: every tool takes one field more, which names the hand that does it. Without it the only hand
 * that has the tool does it; when there are several, the model is told their names.
 */
export function routedHand(hands: readonly RemoteHand[]): Hand {
  const routed = new Map<string, RemoteHand>();
  const route = (action: Action): readonly [RemoteHand, Action] => {
    const hand = routed.get(action.id) ?? chosen(hands, action);
    const { [WHERE]: _, ...input } = action.input;
    return [hand, { ...action, input }];
  };
  return {
    id: hands.map(({ id }) => id).join(","),
    workspace: hands[0]?.workspace ?? "",
    tools: union(hands),
    async judge(action) {
      try {
        const [hand, bare] = route(action);
        return await hand.judge(bare);
      } catch (thrown) {
        if (thrown instanceof Fault) return thrown.report();
        throw thrown;
      }
    },
    async *perform(order, signal): AsyncIterable<HandEvent> {
      let found: readonly [RemoteHand, Action];
      try {
        found = route(order.action);
      } catch (thrown) {
        if (!(thrown instanceof Fault)) throw thrown;
        yield { type: "failed", fault: thrown.report() } satisfies Ended;
        return;
      }
      const [hand, action] = found;
      routed.set(action.id, hand);
      yield* hand.perform({ ...order, action }, signal);
    },
    async acknowledge(action) {
      const hand = routed.get(action);
      routed.delete(action);
      await hand?.acknowledge(action);
    },
    // Each of them belongs to the register, which closes it.
    close: async () => undefined,
  };
}

function chosen(hands: readonly RemoteHand[], { tool, input }: Action): RemoteHand {
  const named = input[WHERE];
  const able = hands.filter((hand) => hand.tools.some(({ name }) => name === tool));
  const names = able.map(({ card }) => card.name).join(", ");
  if (named === undefined) {
    const [only, ...others] = able;
    if (only !== undefined && others.length === 0) return only;
    throw new Fault("BAD_ARGUMENTS", `Say where: "${WHERE}" is one of ${names}.`);
  }
  const hand = able.find(({ id, card }) => named === id || named === card.name);
  if (hand === undefined)
    throw new Fault("BAD_ARGUMENTS", `No hand ${JSON.stringify(named)} has the tool ${tool}; these have it: ${names}.`);
  return hand;
}

function union(hands: readonly RemoteHand[]): readonly ToolSpec[] {
  const tools = new Map<string, ToolSpec>();
  for (const hand of hands) for (const tool of hand.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return [...tools.values()].map((tool) => {
    const able = hands.filter((hand) => hand.tools.some(({ name }) => name === tool.name));
    return { ...tool, parameters: withWhere(tool.parameters, able) };
  });
}

function withWhere(parameters: JsonObject, able: readonly RemoteHand[]): JsonObject {
  const properties = (parameters["properties"] ?? {}) as JsonObject;
  const required = (parameters["required"] ?? []) as readonly string[];
  const where = { type: "string", enum: able.map(({ card }) => card.name), description: "The host to do it on." };
  return {
    ...parameters,
    properties: { ...properties, [WHERE]: where },
    required: able.length === 1 ? required : [...required, WHERE],
  };
}
