import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { redactor } from "@vidro/core/redact";
import { atMost } from "./contest/report.ts";
import type { Figure, Report } from "./contest/report.ts";
import { figure, spreadOf } from "./contest/spread.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = 7;
const MIB = 1 << 20;
const PIECE_CHARS = 4096;

/** Texts as commands print them, made as long as needed by saying them again. */
const TEXTS: Readonly<Record<string, () => string>> = {
  prose: () => ["SPEC.md", "ARCHITECTURE.md", "GLOSSARY.md"].map((name) => readFileSync(ROOT + name, "utf8")).join(""),
  code: () => sourcesIn(`${ROOT}packages/core/src/`) + sourcesIn(`${ROOT}packages/brain/src/`),
  "a lockfile": () => readFileSync(`${ROOT}package-lock.json`, "utf8"),
  hashes: () => Array.from({ length: 4096 }, (_, at) => `${hashLike(at)}  file-${at}\n`).join(""),
};

/** What it costs to keep secrets out. */
export const redaction: Figure = {
  name: "redaction",
  title: "Redaction",
  method:
    "CPU time for a mebibyte of text without secrets: as a whole, and in pieces of 4 KiB as a stream takes it. One secret is known by its value, the others by what they look like. What is found and what is mistaken is counted by `corpus.test.ts`.",
  async measure() {
    const redact = redactor(["a-secret-that-is-known"]);
    const rows = Object.entries(TEXTS).map(([name, make]) => {
      const text = mebibyteOf(make());
      const whole = rounds(() => redact.text(text));
      const pieces = rounds(() => {
        const stream = redact.stream();
        for (let at = 0; at < text.length; at += PIECE_CHARS) stream.push(text.slice(at, at + PIECE_CHARS));
        stream.end();
      });
      return { name, whole, pieces };
    });
    return reportOf(rows);
  },
};

function reportOf(rows: readonly { name: string; whole: readonly number[]; pieces: readonly number[] }[]): Report {
  const ms = (of: readonly number[]): string => `${figure(spreadOf(of).median)} ms`;
  return {
    tables: [
      [["", "as a whole", "in pieces"], ...rows.map(({ name, whole, pieces }) => [name, ms(whole), ms(pieces)])],
    ],
    goals: rows.map(({ name, whole }) => atMost(`${name}: ms for a MiB`, 20, spreadOf(whole))),
  };
}

function rounds(work: () => void): number[] {
  work();
  return Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    work();
    return process.cpuUsage(before).user / 1000;
  });
}

function mebibyteOf(text: string): string {
  return text.repeat(Math.ceil(MIB / text.length)).slice(0, MIB);
}

function sourcesIn(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  return names.map((name) => readFileSync(folder + name, "utf8")).join("");
}

/** Forty hexadecimal digits, others for each number. */
function hashLike(number: number): string {
  return Array.from({ length: 5 }, (_, part) =>
    (Math.imul(number + 1, 2_654_435_761 + part * 40_503) >>> 0).toString(16).padStart(8, "0"),
  ).join("");
}
