import { TCP_LIMITS } from "@vidro/core";

/** Bounds of a server that callers may replace. */
export const TCP_BOUNDS: {
  readonly [
    Name in
      | "connections"
      | "strangers"
      | "authMs"
      | "idleMs"
      | "frameMs"
      | "inFlight"
      | "orders"
      | "burst"
      | "perSecond"
      | "unsentBytes"
      | "drainMs"
      | "lingerMs"
      | "farewellMs"
      | "sweepMs"
      | "heartbeatMs"
  ]: number;
} = TCP_LIMITS;

/** The bounds of one server. */
export type TcpBounds = typeof TCP_BOUNDS;
