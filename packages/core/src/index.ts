export * from "./text/answer-words.ts";
export * from "./text/approval-words.ts";
export * from "./text/bounded-lines.ts";
export * from "./codec/frame.ts";
export * from "./codec/json.ts";
export * from "./codec/ndjson.ts";
export * from "./codec/sse.ts";
export * from "./decide.ts";
export * from "./direct.ts";
export * from "./ended.ts";
export * from "./event.ts";
export * from "./fault.ts";
export * from "./listen-fault.ts";
export * from "./file-identity.ts";
export * from "./hand-catalog.ts";
export * from "./heal.ts";
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
export * from "./prompt.ts";
export * from "./prose.ts";
export * from "./question-id.ts";
export * from "./receipt.ts";
export * from "./redact/redact.ts";
export * from "./reply.ts";
export * from "./run.ts";
export * from "./text/sentences.ts";
export * from "./tool.ts";
export * from "./turns.ts";
export * from "./wire/aon.ts";
export * from "./text/words.ts";
