export * from "./span-exporter.ts";
export * from "./span.ts";
export * from "./trace-settings.ts";
export * from "./traceparent.ts";
