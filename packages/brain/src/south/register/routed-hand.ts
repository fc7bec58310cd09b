import { Fault } from "@vidro/core";
import type { Action, ActionEnd, Hand, HandEvent, JsonObject, ToolSpec } from "@vidro/core";

/** A hand as people call it. */
interface NamedHand {
  readonly name: string;
  readonly hand: Hand;
}

/** The field of an input that says where it is to be done. */
const WHERE = "hand";

/** A tool as the run knows it: which hands have it, and what each of them calls it. */
interface SharedTool {
  readonly spec: ToolSpec;
  /** What the hands call it. */
  readonly called: string;
  readonly able: readonly NamedHand[];
}

/**
 * Several hands as one: every tool takes one field more, which names the hand that does it. Without it the only hand
 * that has the tool does it; when there are several, the model is told their names. A tool that only one host has goes
 * by the name of the host and its own, so that what a host says of it is taken for the tool of no other host.
 */
export function routedHand(named: readonly NamedHand[]): Hand {
  const hands = told(named);
  const tools = sharedBy(hands);
  const routed = new Map<string, Hand>();
  const route = (action: Action): readonly [Hand, Action] => {
    const tool = tools.get(action.tool);
    if (tool === undefined)
      throw new Fault("UNKNOWN_TOOL", `None of the hands has a tool ${JSON.stringify(action.tool)}.`);
    const hand = routed.get(action.id) ?? chosen(tool, action);
    const { [WHERE]: _, ...input } = action.input;
    return [hand, { ...action, tool: tool.called, input }];
  };
  return {
    id: hands.map(({ hand }) => hand.id).join(","),
    workspace: sameFolder(hands),
    tools: [...tools.values()].map(({ spec }) => spec),
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
        yield { type: "failed", fault: thrown.report() } satisfies ActionEnd;
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

/**
 * The hands by names that tell them apart and are words: the id of each whose name another has, too, or is a sentence,
 * since a model reads it among the tools of all of them.
 */
function told(named: readonly NamedHand[]): readonly NamedHand[] {
  return named.map(({ name, hand }) => {
    const isShared = named.some((other) => other.hand !== hand && other.name === name);
    return { name: isShared || !WORD.test(name) ? hand.id : name, hand };
  });
}

const WORD = /^[\p{L}\p{N}._:@-]+$/u;

/** The folder that all of them work in; none when they work in several. */
function sameFolder(hands: readonly NamedHand[]): string {
  const [first, ...others] = new Set(hands.map(({ hand }) => hand.workspace));
  return others.length === 0 ? (first ?? "") : ".";
}

function chosen({ able, called }: SharedTool, { input }: Action): Hand {
  const named = input[WHERE];
  const names = able.map(({ name }) => name).join(", ");
  const [only] = able;
  if (named === undefined) {
    if (only !== undefined && able.length === 1) return only.hand;
    throw new Fault("BAD_ARGUMENTS", `Say where: "${WHERE}" is one of ${names}.`);
  }
  const found = able.find(({ name, hand }) => named === hand.id || named === name);
  if (found !== undefined) return found.hand;
  throw new Fault("BAD_ARGUMENTS", `No hand ${JSON.stringify(named)} has the tool ${called}; these have it: ${names}.`);
}

/** The tools by the names that the run knows them by. */
function sharedBy(hands: readonly NamedHand[]): ReadonlyMap<string, SharedTool> {
  const tools = new Map<string, SharedTool>();
  for (const one of hands) {
    for (const spec of one.hand.tools) {
      const name = spec.own === true ? ownName(one.name, spec.name, tools) : spec.name;
      const known = tools.get(name) ?? { spec: { ...spec, name }, called: spec.name, able: [] };
      tools.set(name, { ...known, able: [...known.able, one] });
    }
  }
  return new Map([...tools].map(([name, tool]) => [name, withWhere(tool)]));
}

/** Longest name that every model's server takes. */
const NAME_CHARS = 64;
/** What stands between a host and its tool. */
const OF = "__";

/** The name of a host's own tool, which no other tool has. */
function ownName(host: string, tool: string, taken: ReadonlyMap<string, SharedTool>): string {
  for (let count = 1; ; count += 1) {
    const number = count === 1 ? "" : `_${count}`;
    const short = tool.slice(0, NAME_CHARS / 2);
    const room = NAME_CHARS - short.length - OF.length - number.length;
    const name = `${host.replaceAll(/[^\w-]/g, "_").slice(0, room)}${number}${OF}${short}`;
    if (!taken.has(name)) return name;
  }
}

function withWhere({ spec, called, able }: SharedTool): SharedTool {
  const { parameters } = spec;
  const properties = (parameters["properties"] ?? {}) as JsonObject;
  const required = (parameters["required"] ?? []) as readonly string[];
  const where = { type: "string", enum: able.map(({ name }) => name), description: "The host to do it on." };
  const placed = {
    ...parameters,
    properties: { ...properties, [WHERE]: where },
    required: able.length === 1 ? required : [...required, WHERE],
  };
  return { spec: { ...spec, parameters: placed }, called, able };
}
