import type { Brain } from "@vidro/brain";
import { Fault } from "@vidro/core";
import { entriesOf } from "./entries.ts";
import { homeHands, person } from "./with-hands.ts";
import type { Waist } from "./brain-api.ts";
import { homeFolder } from "../program/settings.ts";

/** A brain in this process. */
export function embedded(brain: Brain): Waist {
  const { runs, journal } = brain;
  return {
    async start({ agent: named, hand: selector, ...request }) {
      if (selector !== undefined) await assertLocal(brain, selector, request.workspace);
      if (named === undefined) return runs.start(request);
      const { HomeAgents } = await import("@vidro/brain");
      const agent = await new HomeAgents(homeFolder(), brain).find(named);
      return runs.start({ ...request, agent });
    },
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

/** Hands on other machines talk to a brain that listens, and this one does not. */
async function assertLocal(brain: Brain, selector: string, workspace: string): Promise<void> {
  const { LOCAL_HAND } = await import("@vidro/brain");
  if ((await homeHands(brain, workspace)).select(selector, await person()) === LOCAL_HAND) return;
  throw new Fault("HAND_UNAVAILABLE", "No daemon is up, and only a daemon has hands on other machines: vidro up");
}
