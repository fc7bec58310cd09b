import type { Hand } from "@vidro/core";
import { Executor } from "../../packages/hands/src/links/executor-ws.ts";
import type { ExecutorOptions } from "../../packages/hands/src/links/executor-ws.ts";
import type { ExecutorEvent, ExecutorState } from "../../packages/hands/src/links/executor-ws/executor-state.ts";
import { openHand } from "./local-runs.ts";

/** Our executor at work in a folder, with what happens to it on record. */
export interface OurExecutor extends AsyncDisposable {
  readonly executor: Executor;
  readonly events: readonly ExecutorEvent[];
  /** Resolves when such an event has come. */
  until(type: ExecutorEvent["type"]): Promise<ExecutorState>;
}

/** Starts an executor under the shipped policy; it redials quickly. */
export async function startOurExecutor(
  about: Pick<ExecutorOptions, "url" | "token" | "task"> & Partial<ExecutorOptions>,
  places: { readonly state: string; readonly project: string },
): Promise<OurExecutor> {
  const hand: Hand = about.hand ?? (await openHand(places.state, places.project));
  const events: ExecutorEvent[] = [];
  const waiting = new Set<{ type: string; resolve: (state: ExecutorState) => void }>();
  const executor = new Executor({
    name: "test",
    version: "1",
    redialling: { bounds: { redialMs: 20, redialCapMs: 200 } },
    ...about,
    hand,
    watch: (event, state) => {
      events.push(event);
      about.watch?.(event, state);
      for (const one of waiting)
        if (one.type === event.type) {
          waiting.delete(one);
          one.resolve(state);
        }
    },
  });
  executor.over.catch(() => undefined);
  return {
    executor,
    events,
    until: (type) =>
      events.some((event) => event.type === type)
        ? Promise.resolve(executor.state)
        : new Promise((resolve) => waiting.add({ type, resolve })),
    async [Symbol.asyncDispose]() {
      await executor.close();
      await hand.close();
    },
  };
}
