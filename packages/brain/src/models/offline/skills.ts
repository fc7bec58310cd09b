import { introduction } from "./phrases.ts";
import type { Phrases } from "./phrases.ts";
import { shortLine } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { find, git, largest, listFolderSkill, read, search } from "./skills-files.ts";
import { cpu, date, disk, folder, memory, sessions, system, uptime, user } from "./skills-machine.ts";
import { runSkill, tests } from "./skills-run.ts";
import { network, ports, processesSkill } from "./skills-work.ts";
import type { Want, WantKind, WantOf } from "./want.ts";

interface Entry<K extends WantKind> {
  /** The work that the want takes. */
  readonly work: (want: WantOf<K>, desk: Desk) => Skill;
  /** What a plan says of it. */
  readonly steps: (steps: Phrases["steps"], want: WantOf<K>) => readonly string[];
}

/** Every skill: one want of `want.ts` and one line here adds one. */
const SKILLS: { readonly [K in WantKind]: Entry<K> } = {
  disk: { work: disk, steps: (steps) => [steps.disk] },
  memory: { work: memory, steps: (steps) => [steps.memory] },
  cpu: { work: cpu, steps: (steps) => [steps.cpu, steps.load] },
  processes: { work: processesSkill, steps: (steps) => [steps.processes] },
  uptime: { work: uptime, steps: (steps) => [steps.uptime] },
  system: { work: system, steps: (steps) => [steps.system] },
  network: { work: network, steps: (steps) => [steps.network] },
  ports: { work: ports, steps: (steps) => [steps.ports] },
  largest: { work: largest, steps: (steps, { path }) => [steps.largest(shortLine(path))] },
  find: { work: find, steps: (steps, { pattern }) => [steps.find(shortLine(pattern))] },
  search: { work: search, steps: (steps, { text }) => [steps.search(shortLine(text))] },
  read: { work: read, steps: (steps, { path }) => [steps.read(shortLine(path))] },
  list: { work: listFolderSkill, steps: (steps, { path }) => [steps.list(shortLine(path))] },
  git: {
    work: git,
    steps: (steps, { about }) => [steps.git(about), ...(about === "changes" ? [steps.differences] : [])],
  },
  run: { work: runSkill, steps: (steps, { command }) => [steps.run(shortLine(command))] },
  tests: { work: tests, steps: (steps) => [steps.project, steps.tests] },
  date: { work: date, steps: (steps) => [steps.date] },
  user: { work: user, steps: (steps) => [steps.user] },
  sessions: { work: sessions, steps: (steps) => [steps.sessions] },
  folder: { work: folder, steps: (steps) => [steps.folder] },
  self: { work: self, steps: () => [] },
};

// oxlint-disable-next-line require-yield -- who it is, it knows without a tool
function* self(_want: WantOf<"self">, { say }: Desk): Skill {
  return introduction(say, say.self);
}

/** The work that a want takes. */
export function skillFor(want: Want, desk: Desk): Skill {
  return entryFor(want).work(want, desk);
}

/** The steps of a want, as a plan tells them. */
export function stepsOf(want: Want, say: Phrases): readonly string[] {
  return entryFor(want).steps(say.steps, want);
}

function entryFor<K extends WantKind>(want: WantOf<K>): Entry<K> {
  const table: { readonly [Kind in K]: Entry<Kind> } = SKILLS;
  return table[want.kind];
}
