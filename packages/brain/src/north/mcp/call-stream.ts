import type { ServerResponse } from "node:http";
import { STREAM_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";

/** Messages to one client as server-sent events; nothing is written once the client is gone or does not read. */
export class CallStream {
  readonly #response: ServerResponse;
  readonly #silence: NodeJS.Timeout;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    this.#silence = setInterval(() => this.#write(":\n\n"), STREAM_LIMITS.sseHeartbeatMs);
    response.once("close", () => clearInterval(this.#silence));
  }

  /** Sends a message that may be lost: it is left out for a client that does not read. */
  notify(message: JsonObject): void {
    if (this.#response.writableLength <= STREAM_LIMITS.unsentBytes) this.#write(eventOf(message));
  }

  /** Sends the last message, if there is one, and ends the stream. */
  end(message?: JsonObject): void {
    clearInterval(this.#silence);
    if (this.#response.destroyed) return;
    const late = setTimeout(() => this.#response.destroy(), STREAM_LIMITS.drainMs).unref();
    this.#response.once("close", () => clearTimeout(late));
    this.#response.end(message === undefined ? "" : eventOf(message));
  }

  #write(text: string): void {
    if (!this.#response.destroyed) this.#response.write(text);
    this.#silence.refresh();
  }
}

function eventOf(message: JsonObject): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}
