/* The boxes alone, for a server with its own routes and faults: no framework, no healer. */

export { blackBox } from "./black-box.ts";
export type { BlackBox } from "./black-box.ts";
export type { AonBox } from "./box.ts";
export { encoder } from "./encode.ts";
export type { Severity } from "./event.ts";
export { glassBox } from "./glass-box.ts";
export { mendInput } from "./heal/mend.ts";
export type { Schema } from "./heal/mend.ts";
export { BOX_LIMITS } from "./limits.ts";
export { NDJSON_TYPE, negotiate } from "./negotiate.ts";
export { nodeSink } from "./node-sink.ts";
export { keepProcessing as processing } from "./processing.ts";
export { sanitiser } from "./sanitise.ts";
export type { Sanitiser } from "./sanitise.ts";
