import { GET_OS_INFO_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import type { Hand, JsonObject } from "@vidro/core";
import type { Sampler } from "../../host/sampler.ts";
import { defineCommand } from "./command.ts";
import { requireAllowed } from "./policy-check.ts";

/** Hands whose policy lets the machine be looked at; a hand has one policy for its whole life. */
const allowed = new WeakSet<Hand>();

/** Tells how the machine was in the last seconds [002-30]. */
export const getOsInfoCommand = defineCommand({
  act: "GET_OS_INFO",
  scope: "getosinfo",
  schema: GET_OS_INFO_SCHEMA,
  run({ seconds }, { context: { hand, sampler } }) {
    if (allowed.has(hand)) return samplesAnswer(sampler, seconds);
    return requireAllowed(hand, "os_info", {}).then(() => {
      allowed.add(hand);
      return samplesAnswer(sampler, seconds);
    });
  },
});

function samplesAnswer(sampler: Sampler, seconds: number): JsonObject {
  // `mem` is the word of the protocol, `memUsed` what its first client shows.
  const samples = sampler.samples(seconds).map(({ cpu, mem, time }) => ({ cpu, mem, memUsed: mem, time }));
  return { ok: true, samples, meta: { returned: samples.length, time: Date.now() } };
}
