import { deferred } from "@vidro/core";

/** Waits; rejects as soon as the signal is aborted. */
export function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, ms);
  return orAborted(promise, signal).finally(() => clearTimeout(timer));
}

/** The promise's value, or a rejection as soon as the signal is aborted. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = deferred<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
