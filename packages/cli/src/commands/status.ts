import { Fault, HTTP_LIMITS, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { brainAddress } from "../brain-api/address.ts";
import type { Address, BrainFlags } from "../brain-api/address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { paint } from "../view/symbols.ts";
import { print, sayJson } from "../program/tell.ts";

const COLOURS = { ready: "green", degraded: "yellow", down: "red" } as const;

/** Tells how the brain is that is up; BRAIN_UNREACHABLE when none is. */
export async function status(flags: BrainFlags & { readonly json?: boolean }): Promise<number> {
  const address = await brainThatIsUp(flags);
  const [ready, agent] = await Promise.all([askReady(address), ask(address, "/agent/status")]);
  const word = ready["status"];
  const state = word === "ready" || word === "degraded" ? word : "down";
  const { checks = {}, details = {} } = ready;
  const { runs = null, hands = null } = agent;
  if (flags.json === true) sayJson({ url: address.url, status: state, checks, details, runs, hands });
  else print(...lines(address.url, state, { checks, details, runs, hands }));
  return state === "down" ? EXIT.failed : EXIT.ok;
}

/** The brain that is up; BRAIN_UNREACHABLE when none is. */
export async function brainThatIsUp(flags: BrainFlags): Promise<Address> {
  const address = await brainAddress(flags);
  if (address === undefined) throw new Fault("BRAIN_UNREACHABLE", "No daemon is up for this home. Start one: vidro up");
  return address;
}

/** What a brain says of whether it can take work. */
export function askReady(address: Address): Promise<JsonObject> {
  return ask(address, "/readyz");
}

async function ask({ url, token }: Address, path: string): Promise<JsonObject> {
  try {
    const response = await fetch(url.replace(/\/$/, "") + path, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(HTTP_LIMITS.probeMs),
    });
    const answer: unknown = await response.json();
    return isObject(answer) ? answer : {};
  } catch (cause) {
    throw new Fault("BRAIN_UNREACHABLE", `${url} does not answer: ${(cause as Error).message}`, { cause });
  }
}

function lines(
  url: string,
  state: keyof typeof COLOURS,
  { checks, details, runs, hands }: { [name: string]: Json },
): readonly string[] {
  const found = Object.entries(isObject(checks) ? checks : {}).map(([thing, health]) => {
    const why = isObject(details) ? details[thing] : undefined;
    return `${thing} ${typeof health === "string" ? health : "unknown"}${typeof why === "string" ? `: ${why}` : ""}`;
  });
  const counts = [
    ...(typeof runs === "number" ? [`open runs: ${runs}`] : []),
    ...(typeof hands === "number" ? [`hands: ${hands}`] : []),
  ];
  const rest = [...found, ...counts].map((text) => `  ${text}`);
  return [`${url} is ${paint(COLOURS[state], state)}`, ...rest];
}
