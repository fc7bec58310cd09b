import type { Brain, BrainOptions } from "@vidro/brain";
import { findBrainAddress } from "./brain-address.ts";
import type { BrainFlags } from "./brain-address.ts";
import type { BrainApi } from "./brain-api.ts";
import { faultLog } from "../program/fault-log.ts";
import { commandConfig, homeFolder } from "../program/settings.ts";

/** Parts of a brain in this process that only this process has. */
type OwnParts = Pick<BrainOptions, "editor">;

/** Does some work with the brain that is meant: a named one, the running daemon, or one in this process. */
export async function withBrainApi<Result>(
  target: BrainFlags,
  work: (api: BrainApi) => Promise<Result>,
  own: OwnParts = {},
): Promise<Result> {
  const address = await findBrainAddress(target);
  if (address !== undefined) return work((await import("./remote.ts")).remoteBrain(address));
  return withOwnBrainApi(target, work, own);
}

/** Does some work with a brain in this process, which is opened when it is first needed. */
export async function withOwnBrainApi<Result>(
  target: BrainFlags,
  work: (api: BrainApi) => Promise<Result>,
  own: OwnParts,
): Promise<Result> {
  const { embeddedBrain } = await import("./embedded.ts");
  let opened: Promise<Brain> | undefined;
  try {
    return await work(embeddedBrain(() => (opened ??= openOwnBrain(target, own))));
  } finally {
    await (await opened?.catch(() => undefined))?.close();
  }
}

/** Opens the brain of this home; a token that was given counts here as it does at a daemon (INVALID_TOKEN). */
async function openOwnBrain({ token: given }: BrainFlags, own: OwnParts): Promise<Brain> {
  const brain = await openHomeBrain(own);
  const token = commandConfig({ token: given }).get("token");
  if (token === undefined) return brain;
  try {
    const { Tokens } = await import("@vidro/brain/home");
    const tokens = new Tokens(brain.records);
    await tokens.verify(token).finally(() => tokens.close());
    return brain;
  } catch (thrown) {
    await brain.close();
    throw thrown;
  }
}

/** Does some work with the brain of this home itself, for what only this machine may do; it is closed afterwards. */
export async function withHomeBrain<Result>(work: (brain: Brain) => Promise<Result>): Promise<Result> {
  const brain = await openHomeBrain();
  try {
    return await work(brain);
  } finally {
    await brain.close();
  }
}

async function openHomeBrain(own: OwnParts = {}): Promise<Brain> {
  const home = homeFolder();
  // Loaded here and not above: help, versions and mistyped commands need none of it.
  const { openBrain } = await import("@vidro/brain");
  return openBrain({ home, config: commandConfig(), report: faultLog(home), ...own });
}
