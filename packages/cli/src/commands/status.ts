import { isObject } from "@vidro/core";
import type { Json } from "@vidro/core";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { paint } from "../view/symbols.ts";
import { print, writeJson } from "../program/output.ts";

const COLOURS = { ready: "green", degraded: "yellow", down: "red" } as const;

/** Shows the status of the running daemon; BRAIN_UNREACHABLE when none is up. */
export async function showStatus(flags: BrainFlags & { readonly json?: boolean }): Promise<number> {
  const { url, ready, agent } = await withBrainApi(flags, async (api) => ({
    url: await api.address(),
    ...(await api.status()),
  }));
  const word = ready["status"];
  const state = word === "ready" || word === "degraded" ? word : "down";
  const { checks = {}, details = {} } = ready;
  const { runs = null, hands = null } = agent;
  if (flags.json === true) writeJson({ url, status: state, checks, details, runs, hands });
  else print(...lines(url, state, { checks, details, runs, hands }));
  return state === "down" ? EXIT.failed : EXIT.ok;
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
