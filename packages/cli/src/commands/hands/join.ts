import { join as joinPath } from "node:path";
import { homeFolder } from "../../program/settings.ts";

/** What joining may be told. */
interface JoinFlags {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly transport?: string;
  readonly workspace?: string;
  readonly state?: string;
  readonly json?: boolean;
}

/** Makes this host a hand of the brain that has invited it, and works for it until it is asked to end. */
export async function join(url: string, flags: JoinFlags): Promise<number> {
  const { joinBrain } = await import("@vidro/hands/program");
  return joinBrain({ ...flags, url, state: flags.state ?? joinPath(homeFolder(), "joined") });
}
