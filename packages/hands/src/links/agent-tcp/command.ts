import type { Hand, JsonObject } from "@vidro/core";
import type { BrainKey } from "../../enrol/brain-key.ts";
import type { Sampler } from "../../host/sampler.ts";
import type { ToolInput, ToolInputSchema } from "../../tools/tool.ts";
import type { Watches } from "../../host/watches.ts";

/** The bearer of a valid token. */
export interface Bearer {
  readonly tokenId: string;
  readonly scopes: ReadonlySet<string>;
  /** Epoch ms; null: never. */
  readonly expiresAt: number | null;
  /** Aborted when the token is revoked. */
  readonly revoked: AbortSignal;
}

/** Verifies a token; rejects with INVALID_TOKEN, TOKEN_EXPIRED, or the fault that prevents the check. */
export type Verify = (token: string) => Promise<Bearer>;

/** Dependencies that all commands of a server share. */
export interface CommandContext {
  readonly hand: Hand;
  /** Name of this host. */
  readonly name: string;
  readonly version: string;
  readonly sampler: Sampler;
  readonly watches: Watches;
  readonly verify: Verify;
  /** The only brain whose approvals are accepted; without it, tokens with the scope `approve` may approve. */
  readonly brain?: BrainKey | undefined;
}

/** The session of a connection. */
export interface TcpSession extends Bearer {
  readonly sessionId: string;
}

/** Orders of one action that wait for its end. */
interface PendingOrders {
  readonly stop: AbortController;
  waiting: number;
}

/** One request that a command handles. */
export interface CommandCall {
  readonly context: CommandContext;
  /** The session of the connection; undefined before AUTH. */
  readonly session: TcpSession | undefined;
  /** Aborted when the connection ends. */
  readonly gone: AbortSignal;
  /** Orders of this connection that can be cancelled, by orderer and action id. */
  readonly orders: Map<string, PendingOrders>;
  /** Longest frame of an answer. */
  readonly maxBytes: number;
  /** Verifies a token, counted for the remote address of the connection. */
  verifyToken(token: string): Promise<Bearer>;
  /** Starts the session of the connection; `maxBytes` is the longest frame that the client accepts. */
  startSession(session: TcpSession, maxBytes: number | undefined): void;
  /** Sends live output; dropped if the client reads too slowly. */
  sendOutput(data: JsonObject): void;
  /** Resolves when all other requests of the connection are answered. */
  waitForOthers(): Promise<unknown>;
}

/** One action of the protocol. */
export interface TcpCommand<Schema extends ToolInputSchema = ToolInputSchema> {
  readonly act: string;
  /** Required scope; undefined: every session may use the command. */
  readonly scope?: string;
  readonly schema: Schema;
  /** An extension of the protocol for brains: announced in the greeting and limited separately. */
  readonly isExtension?: true;
  /** Other requests of the connection wait until it is answered. */
  readonly isExclusive?: true;
  /** Allowed without a session. */
  readonly isOpen?: true;
  /** The connection is closed when it is answered. */
  readonly isLast?: true;
  /** Returns the answer, synchronously if possible; throws Faults. */
  run(data: ToolInput<Schema>, call: CommandCall): JsonObject | Promise<JsonObject>;
}

/** Returns the command unchanged; infers its types so that command files need not write them twice. */
export function defineCommand<const Schema extends ToolInputSchema>(made: TcpCommand<Schema>): TcpCommand<Schema> {
  return made;
}
