import { useSyncExternalStore } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";

/** Whether the brain answers this page: `here`, `away` until it is back, or `signed-out`. */
export type Presence = "here" | "away" | "signed-out";

let presence: Presence = "here";
let back: Promise<void> | undefined;
const listeners = new Set<() => void>();

/** Tells all parts of the page about the brain. */
export function setPresence(now: Presence): void {
  if (now === presence) return;
  presence = now;
  for (const listener of listeners) listener();
}

/** Shows that the brain is away; resolves when it answers again. */
export function brainBack(): Promise<void> {
  setPresence("away");
  back ??= look().finally(() => (back = undefined));
  return back;
}

async function look(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, CONSOLE_LIMITS.lookMs));
    const isBack = await fetch("/healthz", { cache: "no-store" }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isBack) return setPresence("here");
  }
}

/** The presence of the brain, as it changes. */
export function usePresence(): Presence {
  return useSyncExternalStore(subscribe, () => presence);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
