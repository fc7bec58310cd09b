/** One page that a search of the web found. */
export interface WebResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** A search of the web. */
export interface WebQuery {
  readonly text: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** A service that searches the web. Rejections are Faults. */
export interface WebSearch {
  /** Name of the service, for people. */
  readonly name: string;
  /** The pages that the service found, best first, at most as many as asked for. */
  search(query: WebQuery): Promise<readonly WebResult[]>;
}
