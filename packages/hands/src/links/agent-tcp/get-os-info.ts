import { GET_OS_INFO_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import type { Hand, JsonObject } from "@vidro/core";
import type { Sampler } from "../../host/sampler.ts";
import { defineCommand } from "./command.ts";
import { requireAllowed } from "./policy-check.ts";

/** Hands whose policy was found to allow os_info; it is asked once per hand. */
const allowed = new WeakSet<Hand>();

/** Returns load samples of the last seconds [002-30]. */
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
  // `mem` is the field of the protocol, `memUsed` the one that its first client reads.
  const samples = sampler.samples(seconds).map(({ cpu, mem, time }) => ({ cpu, mem, memUsed: mem, time }));
  return { ok: true, samples, meta: { returned: samples.length, time: Date.now() } };
}
