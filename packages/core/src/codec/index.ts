export * from "./frame.ts";
export * from "./json.ts";
export * from "./ndjson.ts";
export * from "./qr-code.ts";
export * from "./sse.ts";
