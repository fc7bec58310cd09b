/*
 * Every bound has a name. A clause in brackets is where a published contract asks for it; the others are ours.
 * Units come last in a name.
 */

export * from "./limits/background.ts";
export * from "./limits/hand.ts";
export * from "./limits/mcp.ts";
export * from "./limits/people.ts";
export * from "./limits/run.ts";
export * from "./limits/southbound.ts";
export * from "./limits/store.ts";
export * from "./limits/tcp.ts";
export * from "./limits/trace.ts";
export * from "./limits/units.ts";
export * from "./limits/wire.ts";
export * from "./limits/worker.ts";
