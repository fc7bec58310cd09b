export type { AgentInput, AgentApi } from "./agents.ts";
export { Vidro } from "./client.ts";
export type { ListOptions, VidroOptions } from "./client.ts";
export type { Conversation, ConversationOptions, ConversationApi } from "./conversations.ts";
export type { FollowOptions } from "./run-stream.ts";
export type { RunStreamItem, RunEvent } from "./run-stream-item.ts";
export type { DialOptions, HandApi } from "./hands.ts";
export type { HookApi, HookDraft } from "./hooks.ts";
export type { KeptToolApi, KeptToolRecord } from "./kept-tools.ts";
export type { DocumentFolderRecord, DocumentRecord, KnowledgeRecord } from "./knowledge-records.ts";
export type { KnowledgeApi, KnowledgeDraft, KnowledgeListPart } from "./knowledge.ts";
export type { AlwaysRecord, ForkOptions, Run, RunAnswer } from "./run.ts";
export { VidroError } from "./vidro-error.ts";
export type { ScheduleApi, ScheduleDraft } from "./schedules.ts";
export type {
  AgentRecord,
  HandRecord,
  HandSample,
  ConversationMessage,
  HookRecord,
  ScheduleRecord,
  ToolRecord,
} from "./records.ts";
export type { RunOptions } from "./run-options.ts";
