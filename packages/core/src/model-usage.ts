/** Tokens and money that a call of the model used. */
export interface Usage {
  /** The whole prompt, with what was read from and written to the vendor's cache. */
  readonly inputTokens: number;
  /** The whole reply, with its thinking. */
  readonly outputTokens: number;
  /** Part of the prompt that was read from the vendor's cache. */
  readonly cachedTokens?: number;
  /** Part of the prompt that was written to the vendor's cache. */
  readonly cacheWriteTokens?: number;
  /** Part of the reply that is thinking. */
  readonly thinkingTokens?: number;
  /** Cost in US dollars at the price when the reply came; absent when it is nothing, or the price is not known. */
  readonly costUsd?: number;
  /** Tokens of prompt and reply whose price is not known, so that they are in no cost. */
  readonly unpricedTokens?: number;
}
