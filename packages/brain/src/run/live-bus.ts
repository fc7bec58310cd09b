import { isObject, liveText } from "@vidro/core";
import type { Bus, Json, LiveBus, LiveItem } from "@vidro/core";
import { RecentWords } from "./recent-words.ts";

type Hear = (live: LiveItem) => void;

/**
 * Delivers live events to followers in this process, also the words that a model has said before one came, and with a bus
 * to those at other brains.
 */
export function liveBus(bus?: Bus): LiveBus {
  const listeners = new Map<string, { readonly hearing: Set<Hear>; readonly stop: (() => void) | undefined }>();
  const tell = (run: string, live: LiveItem): void => {
    for (const hear of listeners.get(run)?.hearing ?? []) hear(live);
  };
  const recent = new RecentWords();
  const send = bus === undefined ? undefined : gatheringSender(bus);
  return {
    publish(run, live) {
      if (liveText(live.event) === "") return;
      recent.add(run, live);
      tell(run, live);
      send?.(run, live);
    },
    watch(run, hear) {
      const known = listeners.get(run) ?? {
        hearing: new Set(),
        stop: bus?.subscribe(topicOf(run), (text) => {
          for (const live of itemsIn(text)) tell(run, live);
        }),
      };
      listeners.set(run, known);
      known.hearing.add(hear);
      for (const live of recent.of(run)) hear(live);
      return () => {
        known.hearing.delete(hear);
        if (known.hearing.size > 0 || listeners.get(run) !== known) return;
        listeners.delete(run);
        known.stop?.();
      };
    },
  };
}

function topicOf(run: string): string {
  return `live:{${run}}`;
}

/** Sends the live events of one turn of the event loop in one message for each run. */
function gatheringSender(bus: Bus): (run: string, live: LiveItem) => void {
  const waiting = new Map<string, LiveItem[]>();
  const flush = (): void => {
    for (const [run, items] of waiting) bus.publish(topicOf(run), JSON.stringify(items));
    waiting.clear();
  };
  return (run, live) => {
    if (waiting.size === 0) setImmediate(flush);
    const items = waiting.get(run);
    if (items === undefined) waiting.set(run, [live]);
    else items.push(live);
  };
}

/** The live events in a message of another brain; those of another form are left out. */
function itemsIn(text: string): readonly LiveItem[] {
  try {
    const items: Json = JSON.parse(text);
    return Array.isArray(items) ? items.filter(isLive).map((item) => item as unknown as LiveItem) : [];
  } catch {
    return [];
  }
}

function isLive(item: Json): boolean {
  if (!isObject(item) || typeof item["after"] !== "number" || !isObject(item["event"])) return false;
  const { type, text, chunk, stream } = item["event"];
  if (type === "model.delta" || type === "model.thinking") return typeof text === "string";
  return type === "action.output" && typeof chunk === "string" && (stream === "stdout" || stream === "stderr");
}
