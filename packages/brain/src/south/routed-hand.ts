import { Fault } from "@vidro/core";
import type { Action, Ended, Hand, HandEvent, JsonObject, ToolSpec } from "@vidro/core";

/** A hand as people call it. */
export interface NamedHand {
  readonly name: string;
  readonly hand: Hand;
}

/** The field of an input that says where it is to be done. */
const WHERE = "hand";

/**
 * Several hands as one: every tool takes one field more, which names the hand that does it. Without it the only hand
 * that has the tool does it; when there are several, the model is told their names.
 */
export function routedHand(named: readonly NamedHand[]): Hand {
  const hands = told(named);
  const routed = new Map<string, Hand>();
  const route = (action: Action): readonly [Hand, Action] => {
    const hand = routed.get(action.id) ?? chosen(hands, action);
    const { [WHERE]: _, ...input } = action.input;
    return [hand, { ...action, input }];
  };
  return {
    id: hands.map(({ hand }) => hand.id).join(","),
    workspace: hands[0]?.hand.workspace ?? "",
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
      let found: readonly [Hand, Action];
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
    watch(wake) {
      const forgets = hands.map(({ hand }) => hand.watch?.(wake));
      return () => forgets.forEach((forget) => forget?.());
    },
    async acknowledge(action) {
      const hand = routed.get(action);
      routed.delete(action);
      await hand?.acknowledge(action);
    },
    // Each of them belongs to somebody else, who closes it.
    close: async () => undefined,
  };
}

/** The hands by names that tell them apart: the id of each whose name another has, too. */
function told(named: readonly NamedHand[]): readonly NamedHand[] {
  return named.map(({ name, hand }) => {
    const isShared = named.some((other) => other.hand !== hand && other.name === name);
    return { name: isShared ? hand.id : name, hand };
  });
}

function chosen(hands: readonly NamedHand[], { tool, input }: Action): Hand {
  const named = input[WHERE];
  const able = having(hands, tool);
  const names = able.map(({ name }) => name).join(", ");
  const [only, ...others] = able;
  if (only === undefined) throw new Fault("UNKNOWN_TOOL", `None of the hands has a tool ${JSON.stringify(tool)}.`);
  if (named === undefined) {
    if (others.length === 0) return only.hand;
    throw new Fault("BAD_ARGUMENTS", `Say where: "${WHERE}" is one of ${names}.`);
  }
  const found = able.find(({ name, hand }) => named === hand.id || named === name);
  if (found !== undefined) return found.hand;
  throw new Fault("BAD_ARGUMENTS", `No hand ${JSON.stringify(named)} has the tool ${tool}; these have it: ${names}.`);
}

function having(hands: readonly NamedHand[], tool: string): readonly NamedHand[] {
  return hands.filter(({ hand }) => hand.tools.some(({ name }) => name === tool));
}

function union(hands: readonly NamedHand[]): readonly ToolSpec[] {
  const tools = new Map<string, ToolSpec>();
  for (const { hand } of hands) for (const tool of hand.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return [...tools.values()].map((tool) => ({
    ...tool,
    parameters: withWhere(tool.parameters, having(hands, tool.name)),
  }));
}

function withWhere(parameters: JsonObject, able: readonly NamedHand[]): JsonObject {
  const properties = (parameters["properties"] ?? {}) as JsonObject;
  const required = (parameters["required"] ?? []) as readonly string[];
  const where = { type: "string", enum: able.map(({ name }) => name), description: "The host to do it on." };
  return {
    ...parameters,
    properties: { ...properties, [WHERE]: where },
    required: able.length === 1 ? required : [...required, WHERE],
  };
}
