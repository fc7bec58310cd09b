import { TCP_LIMITS } from "@vidro/core";

/** The bounds of a server that one can be given others for. */
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

/** Bounds as a server has them. */
export type TcpBounds = typeof TCP_BOUNDS;
