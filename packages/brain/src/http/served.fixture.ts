import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { Fault, isObject } from "@vidro/core";
import type { Json, JsonObject, Records } from "@vidro/core";
import { lineHead } from "../observe/log.ts";
import type { Log, LogFields } from "../observe/log.ts";
import { Metrics } from "../observe/metrics.ts";
import { openStore } from "../stores/stores.ts";
import type { Store } from "../stores/store.ts";
import { Tokens } from "../auth/tokens.ts";
import { serveHttp } from "./server.ts";
import type { HttpOptions, HttpServer } from "./server.ts";
import { plainFault } from "../north/ops.ts";
import type { RouteCall, Reply, Route, Surface } from "./route.ts";

/** What a test server did, and what holds it up. */
export class Trial {
  /** Things that were made. */
  made = 0;
  /** Resolved to let the slow route go on. */
  readonly go = Promise.withResolvers<void>();
  /** Resolved when the slow route is at work. */
  readonly atWork = Promise.withResolvers<RouteCall>();
  /** Calls of streams. */
  readonly streams: RouteCall[] = [];
  /** Keys that streams were given. */
  readonly keys: (string | undefined)[] = [];
}

const THING: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: { name: { type: "string", minLength: 1 }, size: { type: "integer", default: 1 } },
};

/** A surface with a route of every kind. */
export function trialSurface(trial: Trial): Surface {
  const route = (method: Route["method"], path: string, handle: Route["handle"], more: Partial<Route> = {}): Route => ({
    method,
    path,
    summary: path,
    scope: "runs",
    answer: { type: "object" },
    handle,
    ...more,
  });
  const stream = async (call: RouteCall): Promise<Reply> => {
    trial.streams.push(call);
    trial.keys.push(call.key);
    return {
      async stream(response) {
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
        if (!call.signal.aborted) await once(call.signal, "abort");
      },
    };
  };
  const produces = ["text/event-stream"];
  return {
    name: "trial",
    faultBody: plainFault,
    routes: [
      route("GET", "/open", async ({ caller }) => ({ json: { owner: caller.owner } }), { scope: undefined }),
      route(
        "GET",
        "/things/{name}",
        async ({ params, query, caller }) => ({ json: { ...params, ...query, owner: caller.owner } }),
        {
          query: { type: "object", additionalProperties: false, properties: { n: { type: "integer", default: 7 } } },
        },
      ),
      route("POST", "/things", async ({ body }) => ({ json: { ...body, made: ++trial.made }, status: 201 }), {
        body: THING,
      }),
      route("DELETE", "/things/{name}", async () => ({ json: null }), { scope: "admin" }),
      route("POST", "/slow", async (call) => {
        trial.atWork.resolve(call);
        await trial.go.promise;
        return { json: { made: ++trial.made } };
      }),
      route("GET", "/stream", stream, { produces }),
      route("POST", "/stream", stream, { produces, body: THING }),
      route("GET", "/torn/{after}", async ({ params }) => torn(Number(params["after"])), { produces }),
      route("GET", "/bug", async () => JSON.parse("a secret of the inside")),
      route("GET", "/broken", async ({ tell }) => {
        tell.status("Looking.");
        throw new Fault("MODEL_UNAVAILABLE", "The model is down.");
      }),
      route("GET", "/watched", async ({ tell }) => {
        tell.status("Looking.", 5);
        tell.intent({ original_intent: "a", detected_issue: "b", decision: "c" });
        tell.healing({
          severity: "low",
          action: "retry_with_backoff",
          description: "again",
          metadata: { success: true },
        });
        return { json: { seen: true } };
      }),
    ],
  };
}

/** A stream that breaks after so many bytes. */
function torn(after: number): Reply {
  return {
    async stream(response) {
      if (after > 0) await new Promise<void>((resolve) => response.write("x".repeat(after), () => resolve()));
      throw new Fault("JOURNAL_CORRUPT", "It breaks here.");
    },
  };
}

/** A server over real sockets, its tokens and its log; all of it is gone in the end. */
export class Served implements AsyncDisposable {
  readonly trial: Trial;
  readonly server: HttpServer;
  readonly tokens: Tokens;
  readonly records: Records;
  readonly lines: readonly LogFields[];
  readonly metrics: Metrics;
  /** An ordinary user's. */
  readonly token: string;
  readonly #store: Store;

  private constructor(
    parts: Pick<Served, "trial" | "server" | "tokens" | "lines" | "metrics" | "token">,
    store: Store,
  ) {
    this.trial = parts.trial;
    this.server = parts.server;
    this.tokens = parts.tokens;
    this.lines = parts.lines;
    this.metrics = parts.metrics;
    this.token = parts.token;
    this.records = store.records;
    this.#store = store;
  }

  static async up(options: Partial<HttpOptions> = {}): Promise<Served> {
    const store = await openStore("memory", "");
    const { records } = store;
    const tokens = new Tokens(records);
    const trial = new Trial();
    const lines: LogFields[] = [];
    const log: Log = (event, fields) => void lines.push({ ...lineHead(event), ...fields });
    const metrics = new Metrics();
    const server = await serveHttp({
      surfaces: [trialSurface(trial)],
      tokens,
      records,
      host: "127.0.0.1",
      port: 0,
      production: false,
      log,
      metrics,
      ...options,
    });
    const { token } = await tokens.create({ owner: "ada" });
    return new Served({ trial, server, tokens, lines, metrics, token }, store);
  }

  /** Calls a route with the user's token, unless the headers say otherwise. */
  async call(
    method: string,
    path: string,
    more: { body?: Json; headers?: { [name: string]: string } } = {},
  ): Promise<Answer> {
    const response = await fetch(this.server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(more.body === undefined ? {} : { "content-type": "application/json" }),
        ...more.headers,
      },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text !== "" && isJson(response) ? objectOf(text) : {},
    };
  }

  /** A bare socket to the server. */
  async socket(): Promise<Socket> {
    const socket = connect(this.server.port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  }

  /** Sends bytes as they are and gives all that comes back until the server closes. */
  async raw(...pieces: readonly (string | Buffer)[]): Promise<string> {
    const socket = await this.socket();
    const answer = allOf(socket);
    for (const piece of pieces) socket.write(piece);
    return answer;
  }

  /** The lines of a request head with a host and a token. */
  head(first: string, ...headers: readonly string[]): string {
    return [
      first,
      `Host: 127.0.0.1:${this.server.port}`,
      `Authorization: Bearer ${this.token}`,
      ...headers,
      "",
      "",
    ].join("\r\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.trial.go.resolve();
    await this.server.close();
    this.tokens.close();
    this.metrics.close();
    await this.#store.close();
  }
}

/** What a route answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: JsonObject;
}

/** Everything that a socket says until it is closed. */
export async function allOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await closed(socket);
  return text;
}

/** Waits until a socket is closed, in order or not. */
export async function closed(socket: Socket): Promise<void> {
  socket.on("error", () => undefined);
  if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}

function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("application/json") === true;
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}
