export { localHand } from "./hand.ts";
export type { HandPolicy, LocalHandOptions, ProbePoint } from "./hand.ts";
export { openPolicy } from "./policy-file.ts";
export type { OpenPolicy } from "./policy-file.ts";
export { hostSandbox } from "./sandbox.ts";
export { TOOLS } from "./tools/tools.ts";
