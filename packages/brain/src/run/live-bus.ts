import { liveText } from "@vidro/core";
import type { LiveItem, LiveBus } from "@vidro/core";

/** A bus of live events inside this process. */
export function liveBus(): LiveBus {
  const listeners = new Map<string, Set<(live: LiveItem) => void>>();
  return {
    publish(run, live) {
      if (liveText(live.event) === "") return;
      for (const hear of listeners.get(run) ?? []) hear(live);
    },
    watch(run, hear) {
      const hearing = listeners.get(run) ?? new Set();
      listeners.set(run, hearing.add(hear));
      return () => {
        hearing.delete(hear);
        if (hearing.size === 0) listeners.delete(run);
      };
    },
  };
}
