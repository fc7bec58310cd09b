import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KNOWLEDGE_MIGRATIONS } from "../packages/brain/src/knowledge/sqlite-schema.ts";
import { sqliteKnowledge } from "../packages/brain/src/knowledge/sqlite-knowledge.ts";
import type { Knowledge } from "../packages/brain/src/knowledge/knowledge.ts";
import { openDatabase } from "../packages/brain/src/stores/sqlite/open.ts";
import { atMost } from "./contest/report.ts";
import type { Figure, Report } from "./contest/report.ts";
import { figure, spreadOf } from "./contest/spread.ts";

const ENTRIES = 100_000;
const OWNERS = 10;
const SEARCHES = 2000;
const MEMORY_MIB = 128;
const LIMIT = 20;
const MIB = 1024 * 1024;

/** Words by their rank; the first ones are in nearly every entry, as in any language. */
const VOCABULARY = 20_000;
const WORDS_PER_ENTRY = 60;

/** A generator of numbers from 0 to 1 that is the same at each run. */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const word = (chance: () => number): string => `palavra${Math.floor(VOCABULARY ** chance()).toString(36)}`;
const words = (chance: () => number, count: number): string =>
  Array.from({ length: count }, () => word(chance)).join(" ");

/** Searching a large knowledge base. */
export const knowledge: Figure = {
  name: "knowledge",
  title: "Knowledge",
  method: `A knowledge base of ${ENTRIES.toLocaleString("en")} entries of ${OWNERS} owners, ${WORDS_PER_ENTRY} words each out of ${VOCABULARY.toLocaleString("en")} that are as unlike in frequency as the words of a language (Zipf); ${SEARCHES.toLocaleString("en")} searches for one to four of these words, common ones too, for the best ${LIMIT} entries of one owner. Memory is what the process has more after all searches than before the entries were written and indexed, which it does itself. The goal is for CPU time: a search waits for nothing else, and the clock also counts what other programs of the machine take.`,
  async measure() {
    const folder = mkdtempSync(join(tmpdir(), "vidro-bench-knowledge-"));
    try {
      return await measureIn(join(folder, "knowledge.db"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Writes the entries as an older version did, in one commit; opening indexes them. */
function fill(path: string): void {
  using database = openDatabase(path, KNOWLEDGE_MIGRATIONS);
  const insert = database.prepare(
    "INSERT INTO entry (id, owner, title, tags, snippet, status, trust, at) VALUES (?, ?, ?, ?, ?, 'unverified', 'model', ?)",
  );
  const chance = chanceOf(1);
  database.exec("BEGIN");
  for (let n = 0; n < ENTRIES; n += 1) {
    const tags = JSON.stringify([word(chance), word(chance)]);
    insert.run(`kb_${n}`, `owner_${n % OWNERS}`, words(chance, 6), tags, words(chance, WORDS_PER_ENTRY - 8), n);
  }
  database.exec("COMMIT");
}

async function measureIn(path: string): Promise<Report> {
  const before = process.memoryUsage().rss;
  fill(path);
  const indexing = performance.now();
  const first = sqliteKnowledge(path);
  await first.list({ limit: 1 });
  await first.close();
  const indexMs = performance.now() - indexing;
  const opened = sqliteKnowledge(path);
  const { wall, cpu } = await searchTimes(opened);
  const memory = (process.memoryUsage().rss - before) / MIB;
  await opened.close();
  const file = statSync(path).size / MIB;
  return {
    tables: [
      [
        ["", "median ms", "p99 ms", "CPU: median ms", "CPU: p99 ms", "memory MiB", "file MiB", "indexing all, s"],
        [
          "Vidro",
          ...[at(wall, 0.5), at(wall, 0.99), at(cpu, 0.5), at(cpu, 0.99), memory, file, indexMs / 1000].map((value) =>
            figure(value),
          ),
        ],
      ],
    ],
    goals: [
      atMost("p99 of a search, CPU ms", 20, spreadOf([at(cpu, 0.99)])),
      atMost("memory, MiB", MEMORY_MIB, spreadOf([memory])),
    ],
  };
}

/** The value below which this share of all lies. */
function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** How long each search took by the clock and by the processor, the shortest first. */
async function searchTimes(opened: Knowledge): Promise<{ wall: readonly number[]; cpu: readonly number[] }> {
  const chance = chanceOf(2);
  const [wall, cpu]: [number[], number[]] = [[], []];
  for (let n = 0; n < SEARCHES; n += 1) {
    const text = words(chance, 1 + (n % 4));
    const [start, used] = [performance.now(), process.cpuUsage()];
    await opened.search({ owner: `owner_${n % OWNERS}`, text, limit: LIMIT });
    wall.push(performance.now() - start);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1000);
  }
  const rising = (one: number, other: number): number => one - other;
  return { wall: wall.sort(rising), cpu: cpu.sort(rising) };
}
