import type { Brain, HandRegister } from "@vidro/brain";
import type { HomeAgents, StoredAgent } from "@vidro/brain/home";
import type { AgentRecord, HandRecord } from "@vidro/client";
import { Fault } from "@vidro/core";
import type { HandRow } from "@vidro/core";
import manifest from "../../package.json" with { type: "json" };
import type { BrainApi, BrainHands, BrainRuns } from "./brain-api.ts";
import { embeddedKeptTools } from "./embedded-kept-tools.ts";
import { embeddedKnowledge } from "./embedded-knowledge.ts";
import { readJournal } from "./read-journal.ts";
import { requireFolder } from "../program/require-folder.ts";
import { homeFolder } from "../program/settings.ts";

/** Opens the brain, or gives the one that is open. */
type OpenBrain = () => Promise<Brain>;

/** The brain of this home in this process; it is opened when it is first needed. */
export function embeddedBrain(open: OpenBrain): BrainApi {
  return {
    place: "inside this command",
    runs: embeddedRuns(open),
    agents: embeddedAgents(open),
    hands: embeddedHands(open),
    tools: async () => (await (await open()).hands.tools()).map(({ name }) => name),
    async decider() {
      const { name, because } = await (await open()).model();
      return `${name} decides, because ${because}.`;
    },
    knowledge: embeddedKnowledge(open),
    keptTools: embeddedKeptTools(open),
    hooks: {
      list: () => needsDaemon("takes calls of hooks"),
      add: () => needsDaemon("takes calls of hooks"),
      remove: () => needsDaemon("takes calls of hooks"),
    },
    schedules: {
      list: () => needsDaemon("starts runs by a schedule"),
      add: () => needsDaemon("starts runs by a schedule"),
      remove: () => needsDaemon("starts runs by a schedule"),
    },
    address: () => needsDaemon("has an address"),
    consoleLink: () => needsDaemon("has a console"),
    answerLink: () => needsDaemon("has links to questions"),
    status: () => needsDaemon("has a status"),
  };
}

function embeddedRuns(open: OpenBrain): BrainRuns {
  return {
    async start({ agent: uuidOrName, hand: selector, effort, ...asked }) {
      const brain = await open();
      const request = { ...asked, ...(effort === undefined ? {} : { sampling: { reasoning: effort } }) };
      if (selector !== undefined) await requireLocalHand(brain, selector, request.workspace);
      if (uuidOrName === undefined) return brain.runs.start(request);
      const agent = await (await homeAgents(brain)).find(uuidOrName);
      return brain.runs.start({ ...request, agent });
    },
    async fork(run, how) {
      const { forkRun } = await import("@vidro/brain");
      return (await forkRun((await open()).runs, run, how)).run;
    },
    async join(run) {
      const { runs } = await open();
      try {
        await runs.resume(run);
        return "driver";
      } catch (thrown) {
        if (thrown instanceof Fault && thrown.code === "RUN_BUSY") return "onlooker";
        throw thrown;
      }
    },
    async *follow(run, after, signal) {
      yield* (await open()).runs.follow(run, after, signal);
    },
    async *entries(run, last) {
      yield* readJournal((await open()).journal, run, last);
    },
    answer: async (run, answer) => (await open()).runs.answer(run, answer),
    async always(run) {
      const { reviewAlways } = await import("@vidro/brain");
      return reviewAlways((await open()).runs, run);
    },
    say: async (run, remark) => (await open()).runs.say(run, remark),
    abort: async (run, reason) => (await open()).runs.abort(run, reason),
    find: async (run) => (await open()).runs.find(run),
    list: async (filter) => (await open()).runs.list(filter),
    usage: async (by, filter) => (await open()).spending.list(by, filter),
    // The only hand of this brain is in the same process.
    obstacle: async () => undefined,
    detach: async () => (await open()).runs.close(),
  };
}

function embeddedAgents(open: OpenBrain): BrainApi["agents"] {
  const agents = async (): Promise<HomeAgents> => homeAgents(await open());
  return {
    list: async () => (await (await agents()).list()).map(agentRecord),
    find: async (uuidOrName) => agentRecord(await (await agents()).find(uuidOrName)),
    create: async (draft) => agentRecord(await (await agents()).create({ ...draft }, requireFolder("."))),
    delete: async (uuid) => (await agents()).delete(uuid),
  };
}

function embeddedHands(open: OpenBrain): BrainHands {
  const hands = async (): Promise<HandRegister> => homeHands(await open(), requireFolder("."));
  const unsaid = "At this machine.";
  return {
    async list({ select } = {}) {
      const [all, me] = [await hands(), await localPerson()];
      return (select === undefined ? all.list(me) : all.choose(select, me)).map(handRecord);
    },
    find: async (hand) => handRecord((await hands()).find(hand, await localPerson())),
    revoke: async (hand, options) =>
      handRecord(await (await hands()).revoke(hand, options?.why ?? unsaid, await localPerson())),
    quarantine: async (hand, options) =>
      handRecord(await (await hands()).quarantine(hand, options?.why ?? unsaid, await localPerson())),
    release: async (hand) => handRecord(await (await hands()).release(hand, await localPerson())),
    rotateKey: () => needsDaemon("can give a hand its next key"),
    allowAddress: () => needsDaemon("calls hands"),
    dial: () => needsDaemon("can dial a hand"),
    invite: () => needsDaemon("can be joined by a host"),
  };
}

async function needsDaemon(does: string): Promise<never> {
  throw new Fault("BRAIN_UNREACHABLE", `No daemon is up for this home, and only a daemon ${does}: vidro up`);
}

/** Hands on other machines connect to a daemon, and this brain listens nowhere. */
async function requireLocalHand(brain: Brain, selector: string, workspace: string): Promise<void> {
  const { LOCAL_HAND } = await import("@vidro/brain");
  if ((await homeHands(brain, workspace)).select(selector, await localPerson()) === LOCAL_HAND) return;
  throw new Fault("HAND_UNAVAILABLE", "No daemon is up, and only a daemon has hands on other machines: vidro up");
}

async function homeAgents(brain: Brain): Promise<HomeAgents> {
  const brains = await import("@vidro/brain/home");
  return new brains.HomeAgents(homeFolder(), brain);
}

async function homeHands(brain: Brain, workspace: string): Promise<HandRegister> {
  await brain.local?.show({ workspace, version: manifest.version });
  return brain.hands;
}

/** The person at this machine, who may use and change every hand of its home. */
async function localPerson(): Promise<{ readonly owner: string; readonly admin: true }> {
  const { LOCAL_OWNER } = await import("@vidro/brain");
  return { owner: LOCAL_OWNER, admin: true };
}

/** An agent as the client has it: a text that was never set is null, and not empty. */
function agentRecord(agent: StoredAgent): AgentRecord {
  const { description, prompt, model = null } = agent;
  return { ...agent, description: description || null, prompt: prompt || null, model };
}

function handRecord(row: HandRow): HandRecord {
  const { barred = null, why = null, ...rest } = row;
  return { ...rest, barred, why, tools: row.tools.map(({ name }) => name), telemetry: null };
}
