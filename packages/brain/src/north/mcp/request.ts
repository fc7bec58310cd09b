import type { IncomingHttpHeaders } from "node:http";
import { isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import {
  HANDSHAKE_REVISIONS,
  MCP_REVISIONS,
  META_KEYS,
  metaOf,
  MODERN_REVISION,
  nameIn,
  readHeaderText,
  readRpcMessage,
  RPC_CODES,
} from "@vidro/core/wire/mcp";
import type { RpcError, RpcId } from "@vidro/core/wire/mcp";

/** A request that is well formed in its revision. */
export interface McpRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  /** Each request stands for itself; else the client began with `initialize`. */
  readonly isModern: boolean;
}

/** Why a message is refused, with the status of the HTTP answer. */
interface McpRefusal {
  readonly id: RpcId | undefined;
  readonly status: number;
  readonly error: RpcError;
}

/** What one POST brings: a request, a message that needs no answer, or one that is refused. */
type ReadPost = { readonly request: McpRequest } | { readonly refusal: McpRefusal } | { readonly needsNoAnswer: true };

const BAD = 400;

/** Reads the body of a POST and checks it against the headers that mirror it. */
export function readPost(body: Json, headers: IncomingHttpHeaders): ReadPost {
  const message = readRpcMessage(body);
  if (message === undefined) {
    const id = isObject(body) ? body["id"] : undefined;
    const known = typeof id === "string" || typeof id === "number" ? id : undefined;
    return refuse(known, { code: RPC_CODES.request, message: "The body is no single JSON-RPC 2.0 message." });
  }
  // A client answers nothing here, since nothing is asked of it.
  if (message.kind !== "request") return { needsNoAnswer: true };
  const { id, method, params } = message;
  const revision = textOf(headers["mcp-protocol-version"]);
  const isModern =
    META_KEYS.revision in metaOf(params) || (revision !== undefined && !HANDSHAKE_REVISIONS.includes(revision));
  const refusal = isModern ? checkModern(message, headers, revision) : undefined;
  return refusal ?? { request: { id, method, params, isModern } };
}

/** Refuses a request of the revision without a handshake that does not say of itself what it must. */
function checkModern(
  { id, method, params }: Omit<McpRequest, "isModern">,
  headers: IncomingHttpHeaders,
  revision: string | undefined,
): ReadPost | undefined {
  const meta = metaOf(params);
  const { [META_KEYS.revision]: said, [META_KEYS.capabilities]: capabilities } = meta;
  if (typeof said !== "string" || !isObject(capabilities)) {
    const key = typeof said === "string" ? META_KEYS.capabilities : META_KEYS.revision;
    return refuse(id, { code: RPC_CODES.params, message: `params._meta needs ${key}.` });
  }
  if (revision !== said) return mismatch(id, "MCP-Protocol-Version", said);
  if (said !== MODERN_REVISION)
    return refuse(id, {
      code: RPC_CODES.revision,
      message: `The revision ${said.slice(0, SHOWN_CHARS)} is not spoken here.`,
      data: { supported: MCP_REVISIONS, requested: said },
    });
  if (headers["mcp-method"] !== method) return mismatch(id, "Mcp-Method", method);
  const name = nameIn(method, params);
  const given = textOf(headers["mcp-name"]);
  if (name !== undefined && (given === undefined || readHeaderText(given) !== name))
    return mismatch(id, "Mcp-Name", name);
  return undefined;
}

const SHOWN_CHARS = 64;

function mismatch(id: RpcId, header: string, value: string): ReadPost {
  const message = `The header ${header} must say ${value.slice(0, SHOWN_CHARS)}, as the body does.`;
  return refuse(id, { code: RPC_CODES.headers, message });
}

function refuse(id: RpcId | undefined, error: RpcError): ReadPost {
  return { refusal: { id, status: BAD, error } };
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
