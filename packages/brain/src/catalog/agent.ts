/** A persona: a name and the words that begin every prompt. */
export interface AgentProfile {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  /** The model that decides for it; the environment's choice when it names none. */
  readonly model?: string;
  /** Names of the tools that it may use; all of the hand's when it names none. */
  readonly tools?: readonly string[] | null;
}

/** What an agent is made of. */
export interface AgentFields extends AgentProfile {
  /** The address of a picture. */
  readonly image: string | null;
  /** Names of the tools that it has unless a conversation says otherwise; all there are when it names none. */
  readonly tools: readonly string[] | null;
}

/** An agent that is kept. */
export interface StoredAgent extends AgentFields {
  readonly uuid: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The agent that is always there. */
export const BUNNY: AgentProfile = {
  name: "bunny",
  description: "A careful operator of this machine and this folder.",
  prompt: `You are bunny, a careful operator. You find things out before you change them, you prefer the smallest step that helps, and you say plainly what you did, what you saw and what you could not do. Figures in your answers come from the output of tools.`,
};

/** Names bunny on every brain. */
export const BUNNY_UUID = "3f96722a-9e3d-8241-b545-cd0ea1b6ed37";
