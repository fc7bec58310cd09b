export type { EngineOptions } from "./engine/engine.ts";
export { findGguf } from "./engine/gguf-head.ts";
export { installEngine, isEngineThere } from "./engine/install-engine.ts";
export { serveWorker } from "./serve-worker.ts";
export type { ServedWorker } from "./serve-worker.ts";
