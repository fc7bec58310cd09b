import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import manifest from "./package.json" with { type: "json" };
import { sectionOf } from "./contest/report.ts";
import { measureFigures, SESSION_MS } from "./contest/session.ts";
import type { Figure } from "./contest/report.ts";
import { chat } from "./chat.ts";
import { consolePage } from "./console.ts";
import { cpu } from "./cpu.ts";
import { delivery } from "./delivery.ts";
import { brains } from "./brains.ts";
import { capacity } from "./capacity.ts";
import { durableLoop } from "./durable-loop.ts";
import { durablePostgres } from "./durable-postgres.ts";
import { fanOut } from "./fan-out.ts";
import { fleet } from "./fleet.ts";
import { framed } from "./framed.ts";
import { glass } from "./glass.ts";
import { growth } from "./growth.ts";
import { heldCommand } from "./held-command.ts";
import { knowledge } from "./knowledge.ts";
import { longPrompt } from "./long-prompt.ts";
import { recovery } from "./recovery.ts";
import { reconnect } from "./reconnect.ts";
import { redaction } from "./redaction.ts";
import { remoteCommand } from "./remote-command.ts";
import { search } from "./search.ts";
import { startup } from "./startup.ts";
import { worker } from "./worker.ts";

/** The figures that there are; a new one is a file and a line here. */
const FIGURES: readonly Figure[] = [
  durableLoop,
  durablePostgres,
  brains,
  capacity,
  growth,
  longPrompt,
  cpu,
  redaction,
  knowledge,
  search,
  recovery,
  startup,
  fanOut,
  delivery,
  chat,
  glass,
  framed,
  remoteCommand,
  heldCommand,
  fleet,
  reconnect,
  consolePage,
  worker,
];

const PAGE = fileURLToPath(new URL("../docs/reference/benchmarks.md", import.meta.url));

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !FIGURES.some((figure) => figure.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `bench: no figure ${unknown.join(", ")}; there are: ${FIGURES.map(({ name }) => name).join(", ")}\n`,
  );
  process.exit(2);
}

const isSound = await measureFigures(
  FIGURES.filter(({ name }) => asked.length === 0 || asked.includes(name)),
  {
    boundMs: asked.length === 0 ? SESSION_MS : Infinity,
    now: () => performance.now(),
    tookMs: (figure) => lastTookMs(readPage(), figure),
    take(figure, report, tookMs) {
      const took = `${Math.ceil(tookMs / 1000)} s`;
      const section = `${sectionOf(figure, report)}\nMeasured on ${today()} in ${took}.\n`;
      process.stdout.write(`\n${section}\n`);
      writeFileSync(PAGE, withSection(readPage(), figure, section));
    },
    say: (line) => void process.stderr.write(`bench: ${line}\n`),
  },
);
if (!isSound) process.exitCode = 1;

/** How long a figure took when its section of the page was written. */
function lastTookMs(page: string, { title }: Figure): number | undefined {
  const section = page.split(/^(?=## )/m).find((one) => one.startsWith(`## ${title}\n`));
  const seconds = /^Measured on \S+ in (\d+) s\.$/m.exec(section ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** The page with one figure's section put in its place; the other sections stay as they were last measured. */
function withSection(page: string, measured: Figure, section: string): string {
  const sections = page.split(/^(?=## )/m).slice(1);
  const sectionFor = (figure: Figure): string =>
    figure === measured ? section : (sections.find((old) => old.startsWith(`## ${figure.title}\n`)) ?? "");
  const kept = FIGURES.map((figure) => sectionFor(figure).trim()).filter((text) => text !== "");
  return `${[opening().trim(), ...kept].join("\n\n")}\n`;
}

function readPage(): string {
  try {
    return readFileSync(PAGE, "utf8");
  } catch {
    return ""; // There is none yet.
  }
}

function opening(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const versions = Object.entries(manifest.devDependencies).map(([name, version]) => `${name} ${version}`);
  return `# Benchmarks

Made by \`npm run bench\`; \`npm run bench -- <figure>\` measures one of them anew (${FIGURES.map(({ name }) => name).join(", ")}).

An absolute time means little on a machine that others use, too. What counts is a **ratio inside one run**: the floor, ours and the peers take turns in rounds, each in a process of its own on the same Node; given is the median of the ratios of each round, and in brackets the least and the most.

Every contestant gets the same work: a model that answers at once and a tool that returns at once, the same words, one call of the tool at each step. Everything listens on 127.0.0.1 only, and that is checked.

Last machine: ${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${memory} GiB, ${process.platform} ${process.arch}, Node ${process.version}, SQLite ${process.versions.sqlite}.
Peers: ${versions.join(", ")}; PostgreSQL as the system has it.

Not compared: products as a whole (screens, editors, gateways); time of real models and tools; more than one machine; Restate and DBOS as clusters. Restate, DBOS, LangGraph and pi promise other things than we do, as the tables say.`;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
