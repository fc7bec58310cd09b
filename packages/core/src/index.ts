export * from "./text/answer-words.ts";
export * from "./text/approval-words.ts";
export * from "./text/bounded-lines.ts";
export * from "./codec/frame.ts";
export * from "./codec/json.ts";
export * from "./codec/ndjson.ts";
export * from "./codec/sse.ts";
export * from "./run/decide.ts";
export * from "./run/direct.ts";
export * from "./run/ended.ts";
export * from "./event.ts";
export * from "./fault.ts";
export * from "./listen-fault.ts";
export * from "./file-identity.ts";
export * from "./hand-catalog.ts";
export * from "./run/heal.ts";
export * from "./json.ts";
export * from "./text/language.ts";
export * from "./text/nearest.ts";
export * from "./limits.ts";
export * from "./live-queue.ts";
export { explain, judge } from "./policy/policy.ts";
export type { Explanation, Finding } from "./policy/policy.ts";
export { isWrapper } from "./policy/command.ts";
export { parsePolicy } from "./policy/parse.ts";
export { matchesWord } from "./policy/path.ts";
export type {
  Arguments,
  FactsRule,
  FileRule,
  Options,
  OptionValue,
  PathValue,
  Places,
  Policy,
  PolicySource,
  ProcessRule,
  ShellRule,
} from "./policy/rule.ts";
export * from "./ports.ts";
export * from "./process-identity.ts";
export * from "./text/printable.ts";
export * from "./run/prompt.ts";
export * from "./run/prose.ts";
export * from "./run/question-id.ts";
export * from "./receipt.ts";
export * from "./redact/redact.ts";
export * from "./run/reply.ts";
export * from "./run/run.ts";
export * from "./text/sentences.ts";
export * from "./tool.ts";
export * from "./run/turns.ts";
export * from "./wire/aon.ts";
export * from "./text/words.ts";
