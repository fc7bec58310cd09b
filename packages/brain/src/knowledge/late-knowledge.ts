import type { Knowledge } from "./knowledge.ts";

/** A knowledge base whose code is loaded at its first use, which most processes never make. */
export function lateKnowledge(load: () => Promise<Knowledge>): Knowledge {
  let loaded: Promise<Knowledge> | undefined;
  const use = (): Promise<Knowledge> => {
    const loading = (loaded ??= load());
    // A failure is not kept, so that the next use tries again.
    loading.catch(() => (loaded = undefined));
    return loading;
  };
  return {
    add: async (entry) => (await use()).add(entry),
    search: async (query) => (await use()).search(query),
    list: async (part) => (await use()).list(part),
    find: async (id, owner) => (await use()).find(id, owner),
    verify: async (id, owner) => (await use()).verify(id, owner),
    remove: async (id, owner) => (await use()).remove(id, owner),
    close: async () => (await loaded?.catch(() => undefined))?.close(),
  };
}
