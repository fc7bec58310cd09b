import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";

/** Connections are kept, as every client of such servers keeps them. */
const AGENT = new Agent({ keepAlive: true });

/** A whole answer, and how it came in. */
export interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** A piece of an answer: when it came, counted from the question, and how long the text was by then. */
interface Piece {
  readonly atMs: number;
  readonly chars: number;
}

/** Headers of a request. */
type Headers = { readonly [name: string]: string };

/** Asks, and reads the answer to its end; a body is posted. */
export async function ask(url: string, headers: Headers = {}, body?: string): Promise<Answer> {
  const posted = body === undefined ? {} : { "content-type": "application/json", "content-length": body.length };
  const begun = performance.now();
  const asking = request(url, {
    agent: AGENT,
    method: body === undefined ? "GET" : "POST",
    headers: { ...headers, ...posted },
  });
  asking.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asking.once("response", resolve).once("error", reject);
  });
  const pieces: Piece[] = [];
  let text = "";
  for await (const piece of response.setEncoding("utf8")) {
    text += String(piece);
    pieces.push({ atMs: performance.now() - begun, chars: text.length });
  }
  return { status: response.statusCode, text, pieces };
}

/** When the words were there. */
export function cameAt({ text, pieces, status }: Answer, words: string): number {
  const at = text.indexOf(words);
  const piece = pieces.find(({ chars }) => chars >= at + words.length);
  if (at < 0 || piece === undefined) throw new Error(`The answer (${status}) has no "${words}": ${text.slice(0, 500)}`);
  return piece.atMs;
}
