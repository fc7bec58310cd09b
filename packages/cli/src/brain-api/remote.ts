import { Vidro, VidroError } from "@vidro/client";
import type { RunStreamItem, VidroOptions } from "@vidro/client";
import { Fault, FAULTS, TERMINAL_LIMITS } from "@vidro/core";
import type { Entry, FaultCode } from "@vidro/core";
import { silenceOf } from "./brain-address.ts";
import type { BrainAddress } from "./brain-address.ts";
import type { BrainApi, BrainHands, BrainRuns, Obstacle } from "./brain-api.ts";
import { getFromBrain, linkFromBrain, postToBrain } from "./brain-http.ts";

/** A brain that listens: it drives every run itself, and every client that is attached may answer. */
export function remoteBrain(address: BrainAddress): BrainApi {
  const { url, token, retries, folder, unusedModel } = address;
  const options = { url, ...(token === undefined ? {} : { token }), ...(retries === undefined ? {} : { retries }) };
  const { agents, hooks, keptTools, knowledge, schedules } = new Vidro(options);
  return {
    place: `the daemon at ${url}`,
    ...(unusedModel === undefined ? {} : { unusedModel }),
    runs: remoteRuns(options, folder),
    agents: {
      list: (part) => withFaults(agents.list(part)),
      find: (uuidOrName, how) => withFaults(agents.find(uuidOrName, how)),
      create: (draft, how) => withFaults(agents.create(draft, how)),
      delete: (uuid, how) => withFaults(agents.delete(uuid, how)),
    },
    hands: remoteHands(address, options),
    knowledge: remoteKnowledge(knowledge),
    keptTools: {
      list: (part) => withFaults(keptTools.list(part)),
      remove: (id, how) => withFaults(keptTools.remove(id, how)),
      promote: (id, how) => withFaults(keptTools.promote(id, how)),
    },
    hooks: {
      list: (part) => withFaults(hooks.list(part)),
      add: (draft, how) => withFaults(hooks.add(draft, how)),
      remove: (id, how) => withFaults(hooks.remove(id, how)),
    },
    schedules: {
      list: (part) => withFaults(schedules.list(part)),
      add: (draft, how) => withFaults(schedules.add(draft, how)),
      remove: (id, how) => withFaults(schedules.remove(id, how)),
    },
    tools: async () => (await withFaults(new Vidro(options).tools())).map(({ name }) => name),
    decider: async () => undefined,
    // Asked for its status, so that a wrong token is refused here as well.
    address: async () => {
      await getFromBrain(address, "agent/status");
      return url;
    },
    consoleLink: async () => {
      await getFromBrain(address, "agent/status");
      return linkFromBrain(address, "console/links");
    },
    answerLink: (run) => linkFromBrain(address, `v1/runs/${encodeURIComponent(run)}/answer-links`),
    async status() {
      const [ready, agent] = await Promise.all([
        getFromBrain(address, "readyz"),
        getFromBrain(address, "agent/status"),
      ]);
      return { ready, agent };
    },
  };
}

/** The knowledge of a brain that listens. */
function remoteKnowledge(knowledge: Vidro["knowledge"]): BrainApi["knowledge"] {
  return {
    list: (part) => withFaults(knowledge.list(part)),
    search: (words, part) => withFaults(knowledge.search(words, part)),
    find: (id, how) => withFaults(knowledge.find(id, how)),
    add: (draft, how) => withFaults(knowledge.add(draft, how)),
    verify: (id, how) => withFaults(knowledge.verify(id, how)),
    remove: (id, how) => withFaults(knowledge.remove(id, how)),
    searchDocuments: (words, how) => withFaults(knowledge.searchDocuments(words, how)),
    documentFolders: (how) => withFaults(knowledge.documentFolders(how)),
    indexDocuments: (how) => withFaults(knowledge.indexDocuments(how)),
  };
}

/** The runs of a brain that listens; the daemon of this home is told the folder when it is not the one it works in. */
function remoteRuns(options: VidroOptions, folder: string | undefined): BrainRuns {
  let vidro = new Vidro(options);
  /** Runs that this process asked for: it is their driver, also when their key had started them before. */
  const own = new Set<string>();
  /** Runs that were just started, which the brain drives already. */
  const fresh = new Set<string>();
  return {
    async start({ task, files, key, budget, thread, agent, hand, workspace, model, effort, tools }) {
      const about = {
        ...(folder === undefined || folder === workspace ? {} : { workspace }),
        ...(files === undefined ? {} : { files }),
        ...(key === undefined ? {} : { key }),
        ...(budget === undefined ? {} : { budget }),
        ...(thread === undefined ? {} : { thread }),
        ...(agent === undefined ? {} : { agent }),
        ...(hand === undefined ? {} : { hand }),
        ...(model === undefined ? {} : { model }),
        ...(effort === undefined ? {} : { effort }),
        ...(tools === undefined ? {} : { tools }),
      };
      const { head, existed } = await withFaults(vidro.start(task, about));
      own.add(head.id);
      if (!existed) fresh.add(head.id);
      return { run: head, existed };
    },
    async fork(run, how) {
      const head = await withFaults(vidro.attach(run).fork(how));
      own.add(head.id);
      fresh.add(head.id);
      return head;
    },
    async join(run) {
      try {
        if (!fresh.delete(run)) await withFaults(vidro.attach(run).resume());
        return own.has(run) ? "driver" : "partner";
      } catch (thrown) {
        if (thrown instanceof Fault && thrown.code === "RUN_BUSY") return "onlooker";
        throw thrown;
      }
    },
    follow: (run, after, signal) => followUntilAborted(vidro, { run, after, signal }),
    entries: (run, last) => entriesNow(vidro, run, last),
    answer: (run, { text, question }) => withFaults(vidro.attach(run).answer({ text, question })),
    always: (run) => withFaults(vidro.attach(run).always()),
    say: (run, { id, text }) => withFaults(vidro.attach(run).say(text, { key: id })),
    abort: (run, reason) => withFaults(vidro.attach(run).abort(reason)),
    find: (run) => withFaults(vidro.attach(run).head()),
    list: (filter) => withFaults(vidro.list(filter)),
    usage: (by, filter) => withFaults(vidro.usage(by, filter)),
    obstacle: (ids) => obstacleOf(options.url, vidro, ids),
    async detach() {
      // A command that leaves does not wait for a brain that is gone.
      vidro = new Vidro({ ...options, retries: 0 });
    },
  };
}

/** Why a run cannot go on at the moment; a hand that cannot be asked about is no obstacle. */
async function obstacleOf(url: string, vidro: Vidro, ids: string): Promise<Obstacle | undefined> {
  if ((await silenceOf(url, TERMINAL_LIMITS.vigilMs)) !== undefined)
    return { who: `the brain at ${url}`, what: "does not answer" };
  for (const id of ids.split(",").filter((one) => one !== LOCAL)) {
    const hand = await vidro.hands.find(id).catch(() => undefined);
    if (hand?.state === "down") return { who: hand.name, what: "is down", since: hand.lastSeenAt };
  }
  return undefined;
}

/** The id of the hand on the brain's own machine. */
const LOCAL = "local";

function remoteHands(address: BrainAddress, options: VidroOptions): BrainHands {
  const { hands } = new Vidro(options);
  return {
    list: (part) => withFaults(hands.list(part)),
    find: (hand, how) => withFaults(hands.find(hand, how)),
    revoke: (hand, how) => withFaults(hands.revoke(hand, how)),
    quarantine: (hand, how) => withFaults(hands.quarantine(hand, how)),
    release: (hand, how) => withFaults(hands.release(hand, how)),
    rotateKey: (hand, how) => withFaults(hands.rotateKey(hand, how)),
    allowAddress: (hand, url, how) => withFaults(hands.allowAddress(hand, url, how)),
    dial: (hand, how) => withFaults(hands.dial(hand, how)),
    invite: ({ lifeMs, name, tags, installed }) =>
      postToBrain(address, "v1/hands/invitations", {
        expires_in_ms: lifeMs,
        ...(name === undefined ? {} : { name }),
        ...(tags === undefined ? {} : { tags: [...tags] }),
        ...(installed === undefined ? {} : { installed }),
      }),
  };
}

async function* followUntilAborted(
  vidro: Vidro,
  { run, after, signal }: { readonly run: string; readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<RunStreamItem> {
  try {
    yield* vidro.attach(run).follow({ after, signal });
  } catch (thrown) {
    if (!signal.aborted) throw faultOf(thrown);
  }
}

/** The stream of an open run does not end, so it is read up to the entry that is its last one now. */
async function* entriesNow(vidro: Vidro, run: string, last = Infinity): AsyncGenerator<Entry> {
  if (last === 0) return;
  const { seq } = await withFaults(vidro.attach(run).head());
  const end = Math.min(seq, last);
  try {
    for await (const item of vidro.attach(run).follow({ live: false })) {
      if (!("entry" in item)) continue;
      yield item.entry;
      if (item.entry.seq >= end) return;
    }
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

/** The answer of the client, whose errors become Faults. */
async function withFaults<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

/** An error of the client as a fault, whose table has the exit code. */
function faultOf(thrown: unknown): unknown {
  if (!(thrown instanceof VidroError)) return thrown;
  const { code, message } = thrown;
  if (Object.hasOwn(FAULTS, code)) return new Fault(code as FaultCode, message, { cause: thrown });
  // The server is no brain, or one that is newer than this command.
  return new Fault("BRAIN_UNREACHABLE", `${message} (${code})`, { cause: thrown });
}
