import type { GitAspect } from "./want.ts";

const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

const GIT_STEPS: { readonly [A in GitAspect]: string } = {
  status: "Ask git where the repository stands",
  branch: "Ask git for the branch",
  changes: "Ask git what changed",
  log: "Ask git for the last commits",
};

/** All that the built-in model says in English; the other languages say the same. */
export const EN = {
  decimal: ".",

  steps: {
    disk: "Measure the disks",
    memory: "Measure the memory",
    cpu: "Count the processors",
    load: "Read the load",
    processes: "List the processes",
    uptime: "Read how long the machine is up",
    system: "Read what system this is",
    network: "List the network addresses",
    ports: "List the listening ports",
    largest: (path: string) => `Look for the largest files in ${path}`,
    find: (pattern: string) => `Look for files that match ${pattern}`,
    search: (text: string) => `Search for ${text}`,
    read: (path: string) => `Read ${path}`,
    list: (path: string) => `List ${path}`,
    git: (about: GitAspect) => GIT_STEPS[about],
    differences: "Measure the differences",
    run: (command: string) => `Run ${command}`,
    project: "Look at what kind of project this is",
    tests: "Run its tests",
    date: "Read the clock",
    user: "Ask who the user is",
    sessions: "List who is logged in",
    folder: "Ask for the working folder",
  },

  disk: (free: string, total: string, mount: string, used: string) =>
    `${free} of ${total} are free on ${mount} (${used} used).`,
  memory: (available: string, total: string, used: string) =>
    `${available} of ${total} of memory are available (${used} in use).`,
  swap: (used: string, total: string) => `Swap: ${used} of ${total} in use.`,
  noSwap: "There is no swap.",
  processors: (count: number, model?: string) =>
    `${many(count, "processor", "processors")}${model === undefined ? "" : `: ${model}`}.`,
  load: (one: string, five: string, fifteen: string) =>
    `Load: ${one} over 1 minute, ${five} over 5, ${fifteen} over 15.`,
  processes: (by: "cpu" | "mem", total: number) =>
    `The processes that use most ${by === "cpu" ? "CPU" : "memory"}, of ${total} in all:`,
  named: (name: string, count: number) => `${many(count, "process matches", "processes match")} “${name}”:`,
  noneNamed: (name: string) => `No process matches “${name}”.`,
  uptime: (time: string) => `The machine has been up for ${time}.`,
  units: { day: ["day", "days"], hour: ["hour", "hours"], minute: ["minute", "minutes"] },
  and: "and",
  system: (host: string, name: string, kernel: string, architecture: string) =>
    `${host} runs ${name === "" ? "" : `${name}, `}kernel ${kernel}, on ${architecture}.`,
  addresses: "Network addresses:",
  noAddresses: "No interface has an address.",
  down: "down",
  listening: (count: number) => `${many(count, "TCP port is", "TCP ports are")} being listened on:`,
  nobodyListens: "Nobody listens on any TCP port.",
  port: (port: number, addresses: string, owners: string) => `Port ${port} (${addresses}): ${owners}`,
  nobodyOn: (port: number) => `Nobody listens on TCP port ${port}.`,
  ownerUnknown: "the system does not tell this user who",
  largest: (count: number, path: string) => `The ${count} largest files in ${path}:`,
  noFiles: (path: string) => `There are no files in ${path}.`,
  cut: "The listing was too long to be read whole, so a larger one may be missing.",
  found: (count: number, pattern: string) => `${many(count, "file matches", "files match")} ${pattern}:`,
  notFound: (pattern: string) => `No file matches ${pattern}.`,
  matches: (count: number, text: string) => `${many(count, "line holds", "lines hold")} “${text}”:`,
  noMatches: (text: string) => `No line holds “${text}”.`,
  more: (count: number) => `… and ${count} more.`,
  content: (path: string, lines: number) => `${path} (${many(lines, "line", "lines")} read):`,
  folderContent: (path: string, count: number) => `${path} has ${many(count, "entry", "entries")}:`,
  emptyFolder: (path: string) => `${path} is empty.`,
  branch: (branch: string, tracking: string) => `On branch ${branch}${tracking === "" ? "" : ` (${tracking})`}.`,
  clean: "Nothing has changed since the last commit.",
  changes: (count: number) => `${many(count, "path has", "paths have")} changed:`,
  commits: (count: number) => `The last ${many(count, "commit", "commits")}, newest first:`,
  noCommits: "The repository has no commits yet.",
  noRepository: "This folder is in no git repository.",
  ended: (command: string, code: number) => `\`${command}\` ended with exit code ${code}.`,
  endedBy: (command: string, signal: string) => `\`${command}\` was ended by ${signal}.`,
  timedOut: (command: string) => `\`${command}\` took too long and was ended.`,
  silent: "It wrote nothing.",
  errors: "On its error output:",
  passed: (command: string) => `The tests pass: \`${command}\` ended with exit code 0.`,
  failed: (command: string, how: string) => `The tests do not pass. ${how} (\`${command}\`)`,
  noTests:
    "I cannot tell how this project is tested: I know package.json, Cargo.toml, pyproject.toml, go.mod and a Makefile with a target test.",
  date: (weekday: string, date: string, time: string, zone: string) =>
    `It is ${weekday}, ${date}, ${time} (${zone}) on this machine.`,
  weekdays: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
  user: (name: string, uid: string, groups: string) =>
    `The hand works as ${name}${uid === "" ? "" : ` (uid ${uid}${groups === "" ? "" : `, groups: ${groups}`})`}.`,
  sessions: (names: string) => `Logged in: ${names}.`,
  noSessions: "Nobody is logged in on a terminal.",
  folder: (path: string) => `The working folder is ${path}.`,

  refused: (what: string, why: string) => `Not done: ${what}. ${why}`,
  unread: (what: string) => `${what} gave something that I cannot read, so here it is as it came:`,
  gaveNothing: (what: string) => `${what} gave nothing.`,
  forgotten: (what: string) => `${what} was done, but its output is no longer in my view.`,
  noTool: "None of the tools that this needs is available here.",
  leftOut: (count: number) => `${count} more of what you asked was left out; ask again for the rest.`,

  self: "I am Vidro's built-in model: plain rules, not a language model. I run offline and read everything I tell you from the tools.",
  unknown:
    "I did not understand that. I am Vidro's built-in model: plain rules, not a language model, so I only know a few things.",
  can: "I answer questions about this machine and this folder, for example:",
  examples: [
    "how much disk is free?",
    "which processes use most memory?",
    "what is using port 8080?",
    "the largest files in src/",
    'search for "REVIEW"',
    "what changed in git?",
    'run "df -h"',
    "run the tests",
  ],
  connect:
    "For anything else connect a language model: put a key in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY), or start Ollama on this machine, or name a model in VIDRO_MODEL; `vidro doctor` says what is found.",
};

/** What the built-in model can say. */
export type Phrases = typeof EN;
