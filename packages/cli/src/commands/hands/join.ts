import { join as joinPath } from "node:path";
import { homeFolder } from "../../program/settings.ts";

/** Flags of `vidro hands join`. */
interface JoinFlags {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly transport?: string;
  readonly workspace?: string;
  readonly state?: string;
  readonly detach?: boolean;
  readonly json?: boolean;
}

/** Joins the brain that invited this host, and works for it until a signal ends it. */
export async function join(url: string, flags: JoinFlags): Promise<number> {
  const { joinBrain } = await import("@vidro/hands/program");
  return joinBrain({ ...flags, url, state: flags.state ?? joinPath(homeFolder(), "joined") });
}
