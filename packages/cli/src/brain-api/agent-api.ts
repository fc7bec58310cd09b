import type { AgentRecord, AgentInput } from "@vidro/client";

/** The agents of a brain, be it in this process or behind a wire. Rejections are Faults. */
export interface Catalog {
  /** All of them, bunny first and the others by name. */
  list(): Promise<readonly AgentRecord[]>;
  /** The agent of that uuid or name; NOT_FOUND when there is none. */
  find(uuidOrName: string): Promise<AgentRecord>;
  /** Makes an agent; CONFLICT when its name is taken. */
  create(draft: AgentInput): Promise<AgentRecord>;
  /** Forgets what was made of an agent; CONFLICT when it comes with the brain or from a file. */
  delete(uuid: string): Promise<void>;
}
