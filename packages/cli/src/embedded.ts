import type { Brain } from "@vidro/brain";
import { Fault } from "@vidro/core";
import { entriesOf } from "./entries.ts";
import type { Waist } from "./waist.ts";

/** A brain in this process. */
export function embedded({ runs, journal }: Brain): Waist {
  return {
    start: (request) => runs.start(request),
    async join(run) {
      try {
        await runs.resume(run);
        return "driver";
      } catch (thrown) {
        if (thrown instanceof Fault && thrown.code === "RUN_BUSY") return "onlooker";
        throw thrown;
      }
    },
    follow: (run, after, signal) => runs.follow(run, after, signal),
    entries: (run, last) => entriesOf(journal, run, last),
    answer: (run, answer) => runs.answer(run, answer),
    abort: (run, reason) => runs.abort(run, reason),
    find: (run) => runs.find(run),
    list: (filter) => runs.list(filter),
    letGo: () => runs.close(),
  };
}
