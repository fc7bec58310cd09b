import { asFault, Fault } from "@vidro/core";
import type { Action, ActionEnd, FaultReport, Hand, HandEvent, JsonObject, SpoolPart, ToolSpec } from "@vidro/core";

/** A hand and its name. */
interface NamedHand {
  readonly name: string;
  readonly tags: readonly string[];
  readonly hand: Hand;
}

/** The input field that names the hand. */
const WHERE = "hand";

/** A tool of the run: its name on the hands, and the hands that have it. */
interface SharedTool {
  readonly spec: ToolSpec;
  /** Its name on the hands. */
  readonly called: string;
  readonly able: readonly NamedHand[];
}

/**
 * Several hands as one: every tool has one more field, which names the hand that carries it out. It may be left out
 * when only one hand has the tool; otherwise BAD_ARGUMENTS lists the names. A host's own tool is prefixed with the name
 * of the host, so that its description is never taken for that of another host's tool.
 */
export function routedHand(named: readonly NamedHand[]): Hand {
  const hands = withDistinctNames(named);
  const tools = sharedBy(hands);
  const routed = new Map<string, Hand>();
  const route = (action: Action): readonly [Hand, Action] => {
    const tool = tools.get(action.tool);
    if (tool === undefined)
      throw new Fault("UNKNOWN_TOOL", `None of the hands has a tool ${JSON.stringify(action.tool)}.`);
    const hand = routed.get(action.id) ?? handFor(tool, action);
    const { [WHERE]: _, ...input } = action.input;
    return [hand, { ...action, tool: tool.called, input }];
  };
  return {
    id: hands.map(({ hand }) => hand.id).join(","),
    workspace: sameFolder(hands),
    tools: [...tools.values()].map(({ spec }) => spec),
    async surroundings() {
      const facts = hands.map(async ({ name, tags, hand }) => {
        const { system } = (await hand.surroundings?.()) ?? {};
        return { name, tags, workspace: hand.workspace, ...(system === undefined ? {} : { system }) };
      });
      return { hands: await Promise.all(facts) };
    },
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
    allowAlways: async (action, approved) => allowAt(() => route(action), approved),
    readSpool: async (action, from) => readSpoolAt(() => route(action), from),
    watch(wake) {
      const forgets = hands.map(({ hand }) => hand.watch?.(wake));
      return () => forgets.forEach((forget) => forget?.());
    },
    async acknowledge(action) {
      const hand = routed.get(action);
      routed.delete(action);
      await hand?.acknowledge(action);
    },
    // The register closes the hands.
    close: async () => undefined,
  };
}

/** Reads the whole output of an action from the hand that it went to. */
async function readSpoolAt(route: () => readonly [Hand, Action], from: number): Promise<SpoolPart | FaultReport> {
  try {
    const [hand, action] = route();
    const part = await hand.readSpool?.(action, from);
    return part ?? new Fault("NOT_FOUND", `${hand.id} keeps no whole outputs.`).report();
  } catch (thrown) {
    return asFault(thrown).report();
  }
}

/** Adds a rule to the policy of the hand that an action goes to; POLICY_DENIED when that policy is the host's own. */
async function allowAt(route: () => readonly [Hand, Action], approved: string): Promise<string | FaultReport> {
  try {
    const [hand, action] = route();
    const added = await hand.allowAlways?.(action, approved);
    return added ?? new Fault("POLICY_DENIED", `The policy of ${hand.id} is that host's own.`).report();
  } catch (thrown) {
    return asFault(thrown).report();
  }
}

/**
 * The hands by distinct names: the id of a hand replaces a name that another hand has, too, as its name or as its id,
 * or that is more than one word, since models read it.
 */
function withDistinctNames(named: readonly NamedHand[]): readonly NamedHand[] {
  return named.map(({ name, tags, hand }) => {
    const isShared = named.some((other) => other.hand !== hand && (other.name === name || other.hand.id === name));
    return { name: isShared || !WORD.test(name) ? hand.id : name, tags: tags.filter((tag) => WORD.test(tag)), hand };
  });
}

const WORD = /^[\p{L}\p{N}._:@-]+$/u;

/** The folder that all of them work in; "." when they work in several. */
function sameFolder(hands: readonly NamedHand[]): string {
  const [first, ...others] = new Set(hands.map(({ hand }) => hand.workspace));
  return others.length === 0 ? (first ?? "") : ".";
}

function handFor({ able, called }: SharedTool, { input }: Action): Hand {
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

/** The tools of all hands, by their names in the run. */
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

/** Longest tool name that every model server accepts. */
const NAME_CHARS = 64;
/** Separates the name of a host from that of its tool. */
const OF = "__";

/** A unique name for a host's own tool. */
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
