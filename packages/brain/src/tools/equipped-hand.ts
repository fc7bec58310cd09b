import { createHash } from "node:crypto";
import { asFault, canonicalJson } from "@vidro/core";
import type { Action, FaultReport, Hand, HandEvent, HelperUse, Judgement, Order } from "@vidro/core";
import type { BrainTool } from "./brain-tool.ts";

/** Whose run it is; undefined when there is no such run. */
type OwnerOf = (run: string) => Promise<string | undefined>;

/** The same hand with tools that the brain carries out. A hand with a tool of the same name keeps its own. */
export function equippedHand(hand: Hand, tools: readonly BrainTool[], ownerOf: OwnerOf): Hand {
  const added = tools.filter(({ spec }) => !hand.tools.some(({ name }) => name === spec.name));
  const toolOf = ({ tool }: Action): BrainTool | undefined => added.find(({ spec }) => spec.name === tool);
  const watch = hand.watch === undefined ? {} : { watch: (wake: () => void) => hand.watch!(wake) };
  const adds =
    hand.allowAlways === undefined
      ? {}
      : { allowAlways: (action: Action, approved: string) => hand.allowAlways!(action, approved) };
  return {
    id: hand.id,
    workspace: hand.workspace,
    tools: [...hand.tools, ...added.map(({ spec }) => spec)],
    ...(hand.surroundings === undefined ? {} : { surroundings: () => hand.surroundings!() }),
    ...(hand.readSpool === undefined ? {} : { readSpool: (action, from) => hand.readSpool!(action, from) }),
    ...(hand.receiptKey === undefined ? {} : { receiptKey: hand.receiptKey }),
    async judge(action) {
      const tool = toolOf(action);
      return tool === undefined ? hand.judge(action) : judgeOwn(tool, action);
    },
    async *perform(order, signal): AsyncIterable<HandEvent> {
      const tool = toolOf(order.action);
      if (tool === undefined) yield* hand.perform(order, signal);
      else yield* performOwn(tool, order, { ownerOf, signal });
    },
    acknowledge: (action, by) => hand.acknowledge(action, by),
    ...watch,
    ...adds,
    close: () => hand.close(),
  };
}

function judgeOwn(tool: BrainTool, action: Action): Judgement | FaultReport {
  try {
    tool.check(action.input);
  } catch (thrown) {
    return asFault(thrown).report();
  }
  const runs = tool.runs?.(action);
  const named = runs === undefined ? {} : { runs };
  const plan = { kind: "order", tool: action.tool, input: action.input, ...named } as const;
  const verdict = { decision: "allow", rule: tool.spec.name, class: tool.class, reason: tool.reason } as const;
  return { plan, verdict, policy: "brain", hash: createHash("sha256").update(canonicalJson(plan)).digest("hex") };
}

/** Carries an order out; what the tool shows meanwhile is output. */
async function* performOwn(
  tool: BrainTool,
  order: Order,
  { ownerOf, signal }: { readonly ownerOf: OwnerOf; readonly signal: AbortSignal },
): AsyncIterable<HandEvent> {
  const { run, action } = order;
  const shown: string[] = [];
  let news = Promise.withResolvers<void>();
  const show = (text: string): void => {
    shown.push(text);
    news.resolve();
  };
  const ended = (async (): Promise<HandEvent> => {
    try {
      tool.check(action.input);
      const owner = await ownerOf(run);
      let helpers: { readonly used?: HelperUse } = {};
      const spend = (used: HelperUse): void => void (helpers = { used });
      const outcome = await tool.run(action.input, { run, owner, signal, action: action.id, show, spend });
      return { type: "finished", outcome, ...helpers };
    } catch (thrown) {
      return { type: "failed", fault: asFault(thrown, "TOOL_FAILED").report(), settled: true };
    }
  })();
  for (;;) {
    const end = await Promise.race([ended, news.promise]);
    // Renewed before the chunks are given: what is shown while a reader takes its time with one is news again.
    news = Promise.withResolvers();
    for (const chunk of shown.splice(0)) yield { type: "output", stream: "stdout", chunk };
    if (end !== undefined) return yield end;
  }
}
