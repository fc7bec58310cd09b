import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { RpcError } from "@vidro/core/wire/mcp";

/** A request that is given up when the signal fires. */
export interface ChannelRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Headers that mirror the request, for a channel that has headers. */
  readonly headers?: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

/**
 * A way to one server. `ask` rejects with TOOL_FAILED when the server refuses (the code of its error is the detail) or
 * was not reached, and with OUTCOME_UNKNOWN when the request may have had its effect.
 */
export interface ServerChannel {
  readonly isOpen: boolean;
  /** The list of tools may have changed since the last time that this was read. */
  takeChange(): boolean;
  ask(request: ChannelRequest): Promise<JsonObject>;
  /** Sends a message that has no answer. */
  tell(method: string, params: JsonObject): Promise<void>;
  /** Sets the revision that later requests name. */
  agree(revision: string): void;
  close(): Promise<void>;
}

/** The fault of a request that the server refused. */
export function serverRefusal(server: string, { code, message }: RpcError): Fault {
  return new Fault("TOOL_FAILED", `The server ${server} refuses: ${message.slice(0, SHOWN_CHARS)}`, {
    detail: { rpc: code },
  });
}

/** The fault of a request whose answer was lost. */
export function lostFault(server: string, why: string): Fault {
  return new Fault("OUTCOME_UNKNOWN", `The server ${server} ${why}; the call may have had its effect.`);
}

const SHOWN_CHARS = 4000;
