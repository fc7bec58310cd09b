import type { Hand } from "@vidro/core";
import { processEnvironment } from "./config.ts";

/** Loads what makes spans of orders. */
export const loadTraces = () => import("./traced-hand.ts");

/** Has a hand that is a process of its own export its spans; without a receiver in the environment nothing is loaded. */
export async function exportSpans(hand: Hand, version: string): Promise<void> {
  const env = processEnvironment();
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all = "", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces = "" } = env;
  if (all === "" && traces === "") return;
  (await loadTraces()).exportHandSpans(hand, env, version);
}
