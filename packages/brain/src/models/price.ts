import type { Model, ModelEvent, ModelPrice, ModelRequest, Usage } from "@vidro/core";

/* What a call costs: computed once, when the reply comes, so that a later change of prices alters no journal. */

const MILLION = 1_000_000;
/** Digits that are kept of a dollar: less than the price of one token. */
const DIGITS = 10;

/** Prices of a model that runs on this machine. */
export const FREE: readonly ModelPrice[] = [{ input: 0, output: 0 }];

/** The cost of a call in US dollars; undefined when no price holds. */
export function costOf(usage: Usage, prices: readonly ModelPrice[], at: Date): number | undefined {
  const price = priceAt(prices, usage.inputTokens, at);
  if (price === undefined) return undefined;
  const { cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  const plainTokens = Math.max(0, usage.inputTokens - cachedTokens - cacheWriteTokens);
  const { input, output, cached = input, cacheWrite = input } = price;
  const perMillion =
    plainTokens * input + cachedTokens * cached + cacheWriteTokens * cacheWrite + usage.outputTokens * output;
  return Number((perMillion / MILLION).toFixed(DIGITS));
}

/** The price of a call whose prompt has that many tokens; of the prices that hold, the last one. */
function priceAt(prices: readonly ModelPrice[], promptTokens: number, at: Date): ModelPrice | undefined {
  const day = at.toISOString().slice(0, "2026-12-01".length);
  return prices.findLast(({ abovePromptTokens = -1, from = "" }) => promptTokens > abovePromptTokens && from <= day);
}

/** The model, whose replies carry their cost, or how many of their tokens have no known price. */
export function withPrices<Priced extends Model>(model: Priced, prices: readonly ModelPrice[] = []): Priced {
  return {
    ...model,
    ...(prices.length === 0 ? {} : { isPriced: true }),
    ...(prices === FREE ? { isFree: true } : {}),
    call: (request, signal) => withCost(model, prices, { request, signal }),
  };
}

async function* withCost(
  model: Model,
  prices: readonly ModelPrice[],
  { request, signal }: { readonly request: ModelRequest; readonly signal: AbortSignal },
): AsyncGenerator<ModelEvent> {
  for await (const event of model.call(request, signal))
    yield event.type === "replied" ? addCost(event, prices) : event;
}

type RepliedEvent = Extract<ModelEvent, { type: "replied" }>;

function addCost({ type, reply }: RepliedEvent, prices: readonly ModelPrice[]): RepliedEvent {
  const { usage } = reply;
  const costUsd = costOf(usage, prices, new Date());
  const unpricedTokens = costUsd === undefined ? usage.inputTokens + usage.outputTokens : 0;
  return {
    type,
    reply: {
      ...reply,
      usage: {
        ...usage,
        ...(costUsd === undefined || costUsd === 0 ? {} : { costUsd }),
        ...(unpricedTokens === 0 ? {} : { unpricedTokens }),
      },
    },
  };
}
