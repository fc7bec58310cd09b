/*
 * Loaded before a program with `node --import`: its garbage is collected ten times in a second, so that the memory of
 * the process shows what is held and not what was used a moment ago.
 */

/** How to have a program collect its garbage, as flags of Node. */
export const FREQUENT_GC_FLAGS = ["--expose-gc", "--max-semi-space-size=1", "--import", import.meta.url] as const;

/** How to have it give back to the system what it has freed: an environment for glibc. */
export const RETURN_MEMORY_ENV = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "0",
  MALLOC_MMAP_THRESHOLD_: "16384",
};

if (globalThis.gc !== undefined) setInterval(() => globalThis.gc?.(), 100).unref();
