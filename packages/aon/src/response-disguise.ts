import type { ServerResponse } from "node:http";
import { answerBuffer } from "./answer.ts";
import type { RouteAnswer } from "./answer.ts";
import { JSON_TYPE } from "./negotiate.ts";
import type { NodeResponse } from "./node-response.ts";

/** How a disguised response treats the calls of a route. */
export interface DisguiseRules {
  /** Whether the real headers are out already. */
  readonly isOpen: () => boolean;
  /** Whether further calls of the route are ignored. */
  readonly isOver: () => boolean;
  /** The route answered, perhaps not for the first time. */
  readonly answer: (answered: RouteAnswer) => void;
  /** The route refused before anything was sent: the disguise is removed, and the answer is sent unchanged. */
  readonly stepAside: () => void;
}

/** The original methods of the response, for writing the stream. */
export interface RealResponse {
  readonly writeHead: (status: number) => unknown;
  readonly setHeader: (name: string, value: string) => unknown;
  readonly getHeader: (name: string) => unknown;
  readonly appendHeader: (name: string, value: string) => unknown;
  readonly removeHeader: (name: string) => unknown;
  readonly write: (text: string) => boolean;
  readonly end: () => unknown;
}

const DISGUISED_METHODS =
  "json send writeHead getHeader hasHeader setHeader appendHeader removeHeader flushHeaders write end headersSent".split(
    " ",
  );

/**
 * Replaces the methods of a response, so that a route of any framework answers as usual while the stream is written
 * with the original methods. Only the first answer counts; later calls of the route do not reach the client.
 */
export function disguise(response: NodeResponse, rules: DisguiseRules): RealResponse {
  const body = answerBuffer();
  let contentType = "";

  /** Removes the disguise when the route refuses while an HTTP error can still be sent. */
  const stepsAside = (status: number = response.statusCode): boolean => {
    if (rules.isOpen() || rules.isOver() || status < 300 || status >= 500) return false;
    undo();
    if (contentType !== "") response.setHeader("Content-Type", contentType);
    rules.stepAside();
    return true;
  };

  const truth = realMethodsOf(response);
  const undo = replace(response, {
    ...bodyMethods(response, stepsAside, (type) => (contentType = type)),
    writeHead(status: number, ...rest: unknown[]) {
      if (stepsAside(status)) return call(response, "writeHead", [status, ...rest]);
      response.statusCode = status;
      contentType = contentTypeIn(rest.at(-1)) ?? contentType;
      return response;
    },
    getHeader: (name: string) => (isContentType(name) ? contentType || undefined : truth.getHeader(name)),
    hasHeader: (name: string) => (isContentType(name) ? contentType !== "" : truth.getHeader(name) !== undefined),
    setHeader: (name: string, value: string) => header(name, value, truth.setHeader),
    appendHeader: (name: string, value: string) => header(name, value, truth.appendHeader),
    removeHeader: (name: string) => (rules.isOpen() ? undefined : truth.removeHeader(name)),
    flushHeaders: () => undefined,
    write(chunk: unknown, ...rest: unknown[]) {
      if (stepsAside()) return call(response, "write", [chunk, ...rest]);
      body.add(chunk, rest[0]);
      callLast(rest);
      return true;
    },
    end(...given: unknown[]) {
      if (stepsAside()) return call(response, "end", given);
      body.add(given[0], given[1]);
      rules.answer(body.read(response.statusCode, contentType));
      callLast(given);
      return response;
    },
  });
  Object.defineProperty(response, "headersSent", { get: rules.isOver, configurable: true });

  function header(name: string, value: string, put: (name: string, value: string) => unknown): NodeResponse {
    // The content type is the box's; other headers are kept as long as they can be sent.
    if (isContentType(name)) contentType = value;
    else if (!rules.isOpen()) put(name, value);
    return response;
  }

  return truth;
}

/** The disguised versions of the methods that Express adds. */
function bodyMethods(response: NodeResponse, stepsAside: () => boolean, setType: (type: string) => void) {
  const { json, send } = response;
  return {
    json(payload: unknown) {
      // Express's json applies its settings and calls `send` or `end`, so both boxes give the same text.
      if (!stepsAside()) setType(JSON_TYPE);
      return json?.call(response, payload);
    },
    ...(send && {
      send(body: unknown) {
        if (stepsAside()) return send.call(response, body);
        const isValue = typeof body === "object" && body !== null && !ArrayBuffer.isView(body);
        if (isValue || typeof body === "boolean" || typeof body === "number") return response.json?.(body);
        return response.end(body);
      },
    }),
  };
}

/** Replaces methods; returns a function that restores the previous ones, of the class or of a middleware. */
function replace(response: NodeResponse, methods: object): () => void {
  const before = DISGUISED_METHODS.map((name) => [name, Object.getOwnPropertyDescriptor(response, name)] as const);
  Object.assign(response, methods);
  return () => {
    for (const [name, property] of before) {
      if (property === undefined) Reflect.deleteProperty(response, name);
      else Object.defineProperty(response, name, property);
    }
  };
}

/** The current methods of a response, bound. */
export function realMethodsOf(response: ServerResponse): RealResponse {
  return {
    writeHead: response.writeHead.bind(response),
    setHeader: response.setHeader.bind(response),
    getHeader: response.getHeader.bind(response),
    appendHeader: response.appendHeader.bind(response),
    removeHeader: response.removeHeader.bind(response),
    write: response.write.bind(response),
    end: response.end.bind(response),
  };
}

/** Calls the current method of that name. */
function call(response: NodeResponse, name: "writeHead" | "write" | "end", given: readonly unknown[]): unknown {
  const method = response[name] as (...given: unknown[]) => unknown;
  return method.apply(response, [...given]);
}

function contentTypeIn(headers: unknown): string | undefined {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return undefined;
  const found = Object.entries(headers).find(([name]) => isContentType(name));
  return found === undefined ? undefined : String(found[1]);
}

function isContentType(name: string): boolean {
  return name.toLowerCase() === "content-type";
}

function callLast(given: readonly unknown[]): void {
  const last = given.at(-1);
  if (typeof last === "function") process.nextTick(last);
}
