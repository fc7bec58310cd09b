import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";

/*
 * The Model Context Protocol: JSON-RPC messages between a client and a server of tools. The brain is a server, a hand is
 * a client. From the revision of 2026 on each request names its version; before it, a handshake did that once.
 */

/** The revision in which each request stands for itself. */
export const MODERN_REVISION = "2026-07-28";

/** Revisions that begin with `initialize`, newest first. */
export const HANDSHAKE_REVISIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Every revision that is spoken here, newest first. */
export const MCP_REVISIONS: readonly string[] = [MODERN_REVISION, ...HANDSHAKE_REVISIONS];

/** Codes of JSON-RPC errors, and those that the protocol adds. */
export const RPC_CODES = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  headers: -32_020,
  capability: -32_021,
  revision: -32_022,
} as const;

/** Keys of `_meta` that the protocol has taken for itself. */
export const META_KEYS = {
  revision: "io.modelcontextprotocol/protocolVersion",
  client: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Id of a request, unique among those that its sender has under way. */
export type RpcId = string | number;

/** Error of a request. */
export type RpcError = { readonly code: number; readonly message: string; readonly data?: Json };

/** One message: a request has an id and a method, a notification a method alone, a response an id alone. */
export type RpcMessage =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "result"; readonly id: RpcId; readonly result: JsonObject }
  | { readonly kind: "error"; readonly id: RpcId | undefined; readonly error: RpcError };

/** Reads a message; undefined when it is none. */
export function readRpcMessage(value: Json): RpcMessage | undefined {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return undefined;
  const { id: given, method, params = {}, result, error } = value;
  const id = typeof given === "string" || (typeof given === "number" && Number.isInteger(given)) ? given : undefined;
  if (typeof method === "string") {
    if (!isObject(params) || (given !== undefined && id === undefined)) return undefined;
    return id === undefined ? { kind: "notification", method, params } : { kind: "request", id, method, params };
  }
  if (isObject(result) && id !== undefined) return { kind: "result", id, result };
  const { code, message = "", data } = isObject(error) ? error : {};
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  return { kind: "error", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** A request as JSON. */
export function rpcRequest(id: RpcId, method: string, params: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, method, params };
}

/** A notification as JSON. */
export function rpcNotification(method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: "2.0", method, ...(Object.keys(params).length === 0 ? {} : { params }) };
}

/** A result as JSON. */
export function rpcResult(id: RpcId, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

/** An error as JSON; without an id when the request has none that could be read. */
export function rpcFailure(id: RpcId | undefined, error: RpcError): JsonObject {
  return { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error };
}

/** The `_meta` of params or of a result; empty when there is none. */
export function metaOf({ _meta: meta = {} }: JsonObject): JsonObject {
  return isObject(meta) ? meta : {};
}

/** The header values that mirror a request, by the names of their headers. */
export function mirroredHeaders(method: string, params: JsonObject): { readonly [name: string]: string } {
  const name = nameIn(method, params);
  return { "mcp-method": method, ...(name === undefined ? {} : { "mcp-name": headerText(name) }) };
}

/** What `Mcp-Name` mirrors: the tool or prompt that a request names, or its resource; undefined for other requests. */
export function nameIn(method: string, { name, uri }: JsonObject): string | undefined {
  const found =
    method === "tools/call" || method === "prompts/get" ? name : method === "resources/read" ? uri : undefined;
  return typeof found === "string" ? found : undefined;
}

const PLAIN_TEXT = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/;
const ENCODED_TEXT = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** A text as the value of a header: what is not plain ASCII is in base64 between marks. */
export function headerText(text: string): string {
  if (PLAIN_TEXT.test(text) && !ENCODED_TEXT.test(text)) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}?=`;
}

/** The text of such a header; undefined when it is not well formed. */
export function readHeaderText(value: string): string | undefined {
  const [, encoded] = ENCODED_TEXT.exec(value) ?? [];
  if (encoded === undefined) return PLAIN_TEXT.test(value) ? value : undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
