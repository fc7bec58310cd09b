import { TELEMETRY_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { TelemetryStore } from "../../packages/brain/src/observe/telemetry.ts";
import type { TakeSample } from "../../packages/brain/src/observe/telemetry.ts";

/** Takes samples into a real telemetry; the list has all that it keeps, hand by hand. */
export function collectSamples(list: JsonObject[], now: () => number): TakeSample {
  const telemetry = new TelemetryStore({ now });
  const hands = new Set<string>();
  return (hand, push) => {
    telemetry.take(hand, push);
    hands.add(hand);
    const kept = [...hands].map((one) =>
      telemetry.since(one, TELEMETRY_LIMITS.keptMs).map(({ payload, at }) => ({ hand: one, payload, at })),
    );
    list.splice(0, list.length, ...kept.flat());
  };
}
