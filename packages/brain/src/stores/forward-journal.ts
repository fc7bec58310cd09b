import type { Journal } from "@vidro/core";

/** A journal whose calls all go to `inner`; a wrapper spreads it and replaces the calls that it adds something to. */
export function forwardJournal(inner: Journal): Journal {
  return {
    create: (run, entries, holder) => inner.create(run, entries, holder),
    append: (lease, entries, beside) => inner.append(lease, entries, beside),
    lease: (run, holder) => inner.lease(run, holder),
    release: (lease) => inner.release(lease),
    read: (run, after, limit) => inner.read(run, after, limit),
    head: (run) => inner.head(run),
    list: (filter) => inner.list(filter),
    undriven: (limit) => inner.undriven(limit),
    renew: (lease) => inner.renew(lease),
    watch: (run, wake) => inner.watch(run, wake),
    verify: (run) => inner.verify(run),
    close: () => inner.close(),
  };
}
