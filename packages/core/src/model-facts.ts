/** Facts about a model; what is absent is not known. */
export interface ModelFacts {
  /** The provider that offers it under this id. */
  readonly vendor?: string;
  /** Tokens that a prompt and its reply may have together. */
  readonly window?: number;
  /** Tokens of the longest reply. */
  readonly answer?: number;
  /** It calls tools. */
  readonly tools?: boolean;
  /** It takes images. */
  readonly images?: boolean;
  /** It takes PDFs as files; unsaid, those that take images do where their vendor's wire carries PDFs. */
  readonly pdfs?: boolean;
  /** It thinks before it replies. */
  readonly thinking?: boolean;
  /** Its vendor gives its thinking in words to who asks for them. */
  readonly showsThinking?: boolean;
  /** A reply may have several calls. */
  readonly parallelCalls?: boolean;
  /** The vendor refuses a request that forces a call of a tool. */
  readonly refusesForcedTools?: boolean;
  /** Of those whose conditions hold, the last one counts. */
  readonly prices?: readonly ModelPrice[];
}

/** Prices in US dollars per million tokens, and when they hold. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Of a prompt's tokens from the vendor's cache; that of input when absent. */
  readonly cached?: number;
  /** Of a prompt's tokens that the vendor puts into its cache; that of input when absent. */
  readonly cacheWrite?: number;
  /** Holds for the whole call when its prompt has more tokens than this. */
  readonly abovePromptTokens?: number;
  /** Holds from this day on, as `2026-12-01` (UTC). */
  readonly from?: string;
}
