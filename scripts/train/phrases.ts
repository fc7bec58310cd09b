import { readdirSync, readFileSync } from "node:fs";
import type { Language } from "@vidro/core/text";
import { PHRASES_FOLDER } from "./folder.ts";
import { readNearMisses } from "./near-misses.ts";

/** The lexicon, as it is written. */
export function readLexicon(): string {
  return readFileSync(`${PHRASES_FOLDER}../lexicon.txt`, "utf8");
}

/** A phrase that a person may say, with its slots marked as `{path}` and ways to say a part of it as `(one|other|)`. */
export interface WrittenPhrase {
  readonly intent: string;
  readonly language: Language;
  readonly text: string;
}

/** All phrases, by intent, language and line. A line that belongs to no language is an error that names it. */
export function readPhrases(): readonly WrittenPhrase[] {
  const written = readdirSync(PHRASES_FOLDER)
    .filter((name) => name.endsWith(".txt"))
    .sort()
    .flatMap((name) => phrasesIn(name));
  const known = new Set(written.map(({ language, text }) => `${language} ${text}`));
  return [...written, ...readNearMisses().filter(({ language, text }) => !known.has(`${language} ${text}`))];
}

function phrasesIn(name: string): readonly WrittenPhrase[] {
  const intent = name.slice(0, -".txt".length);
  const phrases: WrittenPhrase[] = [];
  let language: Language | undefined;
  for (const [index, line] of readFileSync(PHRASES_FOLDER + name, "utf8")
    .split("\n")
    .entries()) {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) continue;
    const [, heading] = /^\[(en|pt|es)\]$/.exec(text) ?? [];
    if (heading !== undefined) language = heading as Language;
    else if (language === undefined) throw new Error(`${name}:${index + 1} stands under no [en], [pt] or [es].`);
    else phrases.push({ intent, language, text });
  }
  return phrases;
}

/** What stands in the place of a slot while the model is trained; names that no phrase has stand for all names. */
const SLOTS: { readonly [slot: string]: readonly string[] } = {
  path: [
    "src",
    "/var/log",
    "docs/",
    "~/Downloads",
    "packages/core",
    "lib",
    "/home",
    "./build",
    "assets",
    "/etc",
    "logs",
    "tests",
    "data",
    "scripts",
  ],
  file: ["README.md", "package.json", "src/index.ts", "notes.txt", "app.log", "main.py", "Dockerfile", "a/b/c.yaml"],
  glob: ["*.md", "*.ts", "*.log", ".json", "test_*.py", "*.conf"],
  n: ["5", "10", "three", "20", "2", "cinco", "7", "diez", "100"],
  port: ["8080", "443", "22", "3000", "5432", "80"],
  pid: ["1234", "987", "31337", "4711"],
  host: ["example.com", "10.0.0.1", "google.com", "github.com", "db.internal", "localhost", "https://vidro.dev"],
  name: [
    "nginx",
    "zorblat",
    "postgres",
    "kwexd",
    "redis",
    "sshd",
    "mysqld",
    "frobd",
    "apache2",
    "chrome",
    "ada",
    "cron",
    "traefik",
    "docker",
    "ssh",
  ],
  program: ["git", "node", "zorblat", "python3", "ffmpeg", "docker", "kwex", "npm", "terraform", "gcc", "jq", "go"],
  word: ["report", "backup", "zorblat", "UserService", "config", "kwex_id", "legacy", "draft", "parseInput"],
  text: ['"needle"', '"hello world"', "'fix it'", "“first draft”", '"x = 1"'],
  cmd: ['"df -h"', '"uname -a"', "`ls | wc -l`", "'make all'"],
  kind: ["python", "typescript", "markdown", "json", "javascript", "pdf", "image", "yaml", "css", "log", "html"],
  var: ["HOME", "PATH", "NODE_ENV", "$SHELL", "JAVA_HOME", "LANG"],
  rev: ["a1b2c3d", "HEAD~2", "9f8e7d6c", "HEAD"],
};

const WAYS = /\(([^()]*\|[^()]*)\)/g;

/** How many phrases the ways to say the parts of a phrase make, at most so many. */
export function waysOf(text: string, most: number): number {
  return [...text.matchAll(WAYS)].reduce((all, [, ways = ""]) => Math.min(most, all * ways.split("|").length), 1);
}

/** The phrase with one way for each part that has several; all are met as the `turn` goes on. */
export function withWays(text: string, turn: number): string {
  let at = turn;
  const said = text.replace(WAYS, (_, list: string) => {
    const ways = list.split("|");
    const chosen = ways[at % ways.length] ?? "";
    // The next part goes on with a number that the first ones do not decide.
    at = Math.floor(at / ways.length) + turn * 3;
    return chosen;
  });
  return said === text ? text : said.replace(/ {2,}/g, " ").trim();
}

/** A phrase with its slots filled and one way for each of its parts; the `turn` chooses among the values. */
export function fillSlots(phrase: string, turn: number): string {
  const text = withWays(phrase, Math.max(0, turn));
  let at = turn;
  return text.replace(/\{(\w+)\}/g, (mark, slot: string) => {
    const values = SLOTS[slot];
    if (values === undefined) throw new Error(`${JSON.stringify(text)} has an unknown slot ${mark}.`);
    at += 1;
    return values[at % values.length] ?? "";
  });
}

/** The words of a phrase that belong to the phrase itself, with nothing for its slots but kinds of files. */
export function withoutSlots(text: string): string {
  return text.replace(/\{(\w+)\}/g, " ").replace(/[()|]/g, " ");
}

/** Kinds of files are words of the language, unlike all other slots. */
export const KIND_WORDS: readonly string[] = SLOTS["kind"] ?? [];
