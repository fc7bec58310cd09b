export { openBrain } from "./compose.ts";
export type { Brain, BrainOptions } from "./compose.ts";
export { follow } from "./follow.ts";
export type { Followed } from "./follow.ts";
export { describeChoice } from "./models/choose.ts";
export { Runs } from "./runs.ts";
export type { StartRequest } from "./runs.ts";
