import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Entry, Json } from "@vidro/core";

/** A request as it came. */
export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that says what a test tells it to say, over a real socket. */
export interface ScriptedBrain extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The requests so far. */
  readonly seen: readonly Seen[];
  /** Cuts every connection and takes no more. */
  stop(): Promise<void>;
}

/** What is done with the n-th request, counted from 1. */
export type Script = (response: ServerResponse, request: Seen, n: number) => void;

/** Starts a server on a free port, or on one that another had before. */
export async function scriptedBrain(script: Script, port = 0): Promise<ScriptedBrain> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { method = "", headers } = request;
      const it = { method, url: new URL(request.url ?? "", "http://brain"), headers, body };
      seen.push(it);
      script(response, it, seen.length);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const bound = (server.address() as AddressInfo).port;
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { url: `http://127.0.0.1:${bound}`, port: bound, seen, stop, [Symbol.asyncDispose]: stop };
}

/** Answers with JSON. */
export function answer(
  response: ServerResponse,
  status: number,
  json: Json,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(json));
}

/** Begins a stream of a run's events. */
export function begin(response: ServerResponse): ServerResponse {
  response.socket?.setNoDelay(true);
  response.writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
  return response;
}

/** A value as a line. */
export function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Sends the text and then breaks the connection off. */
export function cut(response: ServerResponse, text: string): void {
  begin(response).write(text, () => response.destroy());
  if (text === "") response.destroy();
}

/** The journal of a small run that ends with `ü`, so that a character can be split too. */
export const JOURNAL: readonly Entry[] = [
  { type: "plan.made", steps: ["look"] },
  { type: "model.called", step: 1, attempt: 1 },
  { type: "note.observed", note: "grün" },
  { type: "model.called", step: 2, attempt: 1 },
  { type: "run.finished", result: "fünf" },
].map((event, index) => ({ seq: index + 1, at: index, event: event as Entry["event"] }));

/** Its lines after an entry, as a brain sends them: with something live before the last entry, and a sign of life. */
export function linesAfter(after: number): readonly string[] {
  return JOURNAL.slice(after).flatMap((entry) =>
    entry.event.type === "run.finished"
      ? [
          line({ after: entry.seq - 1, live: { type: "model.delta", text: "fünf" } }),
          line({ heartbeat: true }),
          line(entry),
        ]
      : [line(entry)],
  );
}

/** What a request for events has already. */
export function cursorOf({ url }: Seen): number {
  return Number(url.searchParams.get("after"));
}
