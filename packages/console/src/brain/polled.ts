import { useEffect, useState } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import { faultWords, isAway, isSignedOut } from "./connection.ts";
import { brainBack, setPresence } from "./presence.ts";

/** The value that was read last, and the failure of the last reading. */
export interface PolledValue<Value> {
  readonly value: Value | undefined;
  readonly fault: string | undefined;
  /** Reads again now. */
  readonly refresh: () => void;
}

/** Reads a value again and again while the page is shown; waits for a brain that is away. */
export function usePolled<Value>(
  key: string,
  read: () => Promise<Value>,
  everyMs: number = CONSOLE_LIMITS.pollMs,
): PolledValue<Value> {
  const [result, setResult] = useState<{ readonly value?: Value; readonly fault?: string }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const over = new AbortController();
    const loop = async (): Promise<void> => {
      while (!over.signal.aborted) {
        try {
          const value = await read();
          if (!over.signal.aborted) setResult({ value });
        } catch (thrown) {
          if (isSignedOut(thrown)) return setPresence("signed-out");
          if (isAway(thrown)) await brainBack();
          else if (!over.signal.aborted) setResult((before) => ({ ...before, fault: faultWords(thrown) }));
        }
        await pause(everyMs);
      }
    };
    void loop();
    return () => over.abort();
    // The key names what `read` reads.
  }, [key, everyMs, turn]);
  return { value: result.value, fault: result.fault, refresh: () => setTurn((before) => before + 1) };
}

/** Waits, and while the page is hidden until it is shown again. */
async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (document.visibilityState === "visible") return;
  await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}
