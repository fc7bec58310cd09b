import type { OutgoingHttpHeader, ServerResponse } from "node:http";
import { JSON_TYPE, varyWithAccept } from "./negotiate.ts";

/** A response of node:http, with the methods of Express where present. */
export type NodeResponse = ServerResponse & {
  json?: (payload: unknown) => unknown;
  send?: (body?: unknown) => unknown;
};

/** Gives a response Express's `json` when it has none. */
export function provideJson(response: NodeResponse): void {
  response.json ??= (payload) => {
    const body = JSON.stringify(payload) ?? "";
    if (!response.hasHeader("content-type")) response.setHeader("Content-Type", `${JSON_TYPE}; charset=utf-8`);
    response.setHeader("Content-Length", Buffer.byteLength(body));
    return response.end(body);
  };
}

/** Calls `decorate` right before the headers are sent, and adds `Vary: Accept`. */
export function beforeHead(response: NodeResponse, decorate: () => void): void {
  const writeHead = response.writeHead.bind(response);
  response.writeHead = (status: number, ...rest: unknown[]): NodeResponse => {
    response.writeHead = writeHead;
    const headers = rest.at(-1);
    if (typeof headers === "object" && headers !== null) applyHeaders(response, headers);
    response.setHeader("Vary", varyWithAccept(String(response.getHeader("vary") ?? "")));
    decorate();
    writeHead(status, ...(typeof rest[0] === "string" ? [rest[0]] : []));
    return response;
  };
}

/** Headers in each form that `writeHead` takes: an object, or names and values in one flat list. */
function applyHeaders(response: NodeResponse, headers: object): void {
  const given = headers as Record<string, OutgoingHttpHeader | undefined>;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(given)) if (value !== undefined) response.setHeader(name, value);
    return;
  }
  const flat = headers.flat() as string[];
  const seen = new Set<string>();
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [name = "", value = ""] = [flat[at], flat[at + 1]];
    if (seen.has(name.toLowerCase())) response.appendHeader(name, value);
    else response.setHeader(name, value);
    seen.add(name.toLowerCase());
  }
}
