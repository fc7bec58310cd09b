export type { AgentDraft, Agents } from "./agents.ts";
export { Vidro } from "./client.ts";
export type { ListOptions, RunOptions, VidroOptions } from "./client.ts";
export type { Conversation, ConversationOptions, Conversations } from "./conversations.ts";
export type { FollowOptions } from "./follow.ts";
export type { Followed, RunEvent } from "./followed.ts";
export type { Run, RunAnswer } from "./run.ts";
export { VidroError } from "./vidro-error.ts";
export type { Agent, Message, Tool } from "./wire.ts";
