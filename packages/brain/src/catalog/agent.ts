/** A persona: a name and the text that begins every prompt. */
export interface AgentProfile {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  /** The model that decides for it; the configured one when null or left out. */
  readonly model?: string;
  /** Names of the tools that it may use; all tools of the hand when null or left out. */
  readonly tools?: readonly string[] | null;
}

/** The fields of an agent that callers set. */
export interface AgentFields extends AgentProfile {
  /** URL of a picture. */
  readonly image: string | null;
  /** Names of its tools unless a thread has others; all tools when null. */
  readonly tools: readonly string[] | null;
}

/** A stored agent. */
export interface StoredAgent extends AgentFields {
  readonly uuid: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The default agent, which always exists. */
export const BUNNY: AgentProfile = {
  name: "bunny",
  description: "A careful operator of this machine and this folder.",
  prompt: `You are bunny, a careful operator. You find things out before you change them, you prefer the smallest step that helps, and you say plainly what you did, what you saw and what you could not do. Figures in your answers come from the output of tools.`,
};

/** UUID of bunny, the same on every brain. */
export const BUNNY_UUID = "3f96722a-9e3d-8241-b545-cd0ea1b6ed37";
