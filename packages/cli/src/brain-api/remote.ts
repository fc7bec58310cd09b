import type { FollowItem } from "@vidro/brain";
import { Vidro, VidroError } from "@vidro/client";
import { Fault, FAULTS } from "@vidro/core";
import type { Entry, FaultCode } from "@vidro/core";
import type { Address } from "./address.ts";
import type { Waist } from "./brain-api.ts";

/** A brain behind its wire: it drives every run itself, and whoever is attached may answer. */
export function remote({ url, token, retries }: Address): Waist {
  const options = { url, ...(token === undefined ? {} : { token }), ...(retries === undefined ? {} : { retries }) };
  let vidro = new Vidro(options);
  /** What this process started is its own business, also when its key had started it before. */
  const own = new Set<string>();
  /** What is new is driven already. */
  const fresh = new Set<string>();
  return {
    async start({ task, key, budget, thread, agent, hand }) {
      const about = {
        ...(key === undefined ? {} : { key }),
        ...(budget === undefined ? {} : { budget }),
        ...(thread === undefined ? {} : { thread }),
        ...(agent === undefined ? {} : { agent }),
        ...(hand === undefined ? {} : { hand }),
      };
      const { head, existed } = await told(vidro.start(task, about));
      own.add(head.id);
      if (!existed) fresh.add(head.id);
      return { run: head, existed };
    },
    async join(run) {
      try {
        if (!fresh.delete(run)) await told(vidro.attach(run).resume());
        return own.has(run) ? "driver" : "partner";
      } catch (thrown) {
        if (thrown instanceof Fault && thrown.code === "RUN_BUSY") return "onlooker";
        throw thrown;
      }
    },
    follow: (run, after, signal) => untilAborted(vidro, run, after, signal),
    entries: (run, last) => entriesNow(vidro, run, last),
    answer: (run, { text, question }) => told(vidro.attach(run).answer({ text, question })),
    abort: (run, reason) => told(vidro.attach(run).abort(reason)),
    find: (run) => told(vidro.attach(run).head()),
    list: (filter) => told(vidro.list(filter)),
    async letGo() {
      // Whoever is leaving does not wait for a brain that is gone.
      vidro = new Vidro({ ...options, retries: 0 });
    },
  };
}

async function* untilAborted(
  vidro: Vidro,
  run: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<FollowItem> {
  try {
    yield* vidro.attach(run).follow({ after, signal });
  } catch (thrown) {
    if (!signal.aborted) throw faultOf(thrown);
  }
}

/** The wire has no end of a run that is open, so it is read up to the entry that is its last one now. */
async function* entriesNow(vidro: Vidro, run: string, last = Infinity): AsyncGenerator<Entry> {
  if (last === 0) return;
  const { seq } = await told(vidro.attach(run).head());
  const end = Math.min(seq, last);
  try {
    for await (const followed of vidro.attach(run).follow({ live: false })) {
      if (!("entry" in followed)) continue;
      yield followed.entry;
      if (followed.entry.seq >= end) return;
    }
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

/** What a brain behind a wire answers; its errors are Faults. */
export async function told<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked;
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

/** An error of the client as a fault, whose table has the exit code. */
function faultOf(thrown: unknown): unknown {
  if (!(thrown instanceof VidroError)) return thrown;
  const { code, message } = thrown;
  if (Object.hasOwn(FAULTS, code)) return new Fault(code as FaultCode, message, { cause: thrown });
  // What answers is no brain, or one that is newer than this command.
  return new Fault("BRAIN_UNREACHABLE", `${message} (${code})`, { cause: thrown });
}
