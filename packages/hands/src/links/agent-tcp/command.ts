import type { Hand, JsonObject } from "@vidro/core";
import type { BrainKey } from "../../enrol/brain-key.ts";
import type { Sampler } from "../../host/sampler.ts";
import type { ToolInput, ToolInputSchema } from "../../tools/tool.ts";
import type { Watches } from "../../host/watches.ts";

/** Whose token it is, for as long as it is good. */
export interface Bearer {
  readonly tokenId: string;
  readonly scopes: ReadonlySet<string>;
  /** Epoch ms; null: never. */
  readonly expiresAt: number | null;
  /** Aborted when the token is revoked. */
  readonly revoked: AbortSignal;
}

/** Tells whose a token is; rejects with INVALID_TOKEN, TOKEN_EXPIRED, or what keeps it from telling. */
export type Verify = (token: string) => Promise<Bearer>;

/** What the commands work with. */
export interface CommandContext {
  readonly hand: Hand;
  /** Name of this host. */
  readonly name: string;
  readonly version: string;
  readonly sampler: Sampler;
  readonly watches: Watches;
  readonly verify: Verify;
  /** The one brain whose approvals count; without it those of tokens with the scope `approve` do. */
  readonly brain?: BrainKey | undefined;
}

/** Who has a session on a connection. */
export interface TcpSession extends Bearer {
  readonly sessionId: string;
}

/** A request on its way through a command. */
export interface CommandCall {
  readonly context: CommandContext;
  /** The session of the connection; there is none while it is asked for. */
  readonly session: TcpSession | undefined;
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal;
  /** Orders of this connection that can be cancelled, by who ordered and the id of the action. */
  readonly orders: Map<string, AbortController>;
  /** The longest frame that may be answered with. */
  readonly maxBytes: number;
  /** Has a token looked at, as one of the address that the connection is from. */
  verifyToken(token: string): Promise<Bearer>;
  /** Gives the connection a session; answers may have frames of that length. */
  startSession(session: TcpSession, maxBytes: number | undefined): void;
  /** Tells live output; dropped when the peer does not keep up. */
  sendOutput(data: JsonObject): void;
  /** When all other requests of the connection are answered. */
  waitForOthers(): Promise<unknown>;
}

/** One action of the protocol. */
export interface TcpCommand<Schema extends ToolInputSchema = ToolInputSchema> {
  readonly act: string;
  /** The scope that it takes; every session may without one. */
  readonly scope?: string;
  readonly schema: Schema;
  /** A brain's: beyond the protocol, announced in the greeting, counted apart from other requests. */
  readonly isExtension?: true;
  /** Nothing else of the connection is read until it is answered. */
  readonly isExclusive?: true;
  /** Allowed without a session. */
  readonly isOpen?: true;
  /** The connection is closed when it is answered. */
  readonly isLast?: true;
  /** Gives the answer, at once where it can; throws Faults. */
  run(data: ToolInput<Schema>, call: CommandCall): JsonObject | Promise<JsonObject>;
}

/** A command as it is: gives each file its inferred types without writing them twice. */
export function defineCommand<const Schema extends ToolInputSchema>(made: TcpCommand<Schema>): TcpCommand<Schema> {
  return made;
}
