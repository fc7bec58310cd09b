import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Terminal } from "../../packages/cli/src/stage.fixture.ts";
import { bundledCommands } from "../test-bundle.js";
import { ROOT } from "../setup.js";
import { TerminalScreen } from "./screen.ts";
import { animatedSvg } from "./svg.ts";
import type { Frame } from "./svg.ts";

/* Records two tasks on a real terminal, as a person types them, and writes them as an animated picture. */

const [COLUMNS, ROWS] = [92, 26];
const PROMPT = "$ ";
const KEY_MS = 45;
const READ_MS = 900;
/** Frames that follow each other sooner are one. */
const FRAME_MS = 60;

const folder = mkdtempSync(join(tmpdir(), "vidro-recording-"));
const launcher = bundledCommands().launcher;
const env = {
  PATH: `${join(launcher, "..")}:${process.env["PATH"]}`,
  HOME: folder,
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
  VIDRO_MODEL: "offline",
};
const work = join(folder, "demo");
mkdirSync(work);
const line = `stty cols ${COLUMNS} rows ${ROWS}; PS1='${PROMPT}' exec sh -i`;
const child = spawn("/usr/bin/script", ["-qfec", line, "/dev/null"], { cwd: work, env });
const frames: Frame[] = [];
const screen = new TerminalScreen(COLUMNS);
const began = performance.now();
child.stdout.on("data", (chunk: Buffer) => {
  screen.write(chunk.toString("utf8"));
  const atMs = Math.round(performance.now() - began);
  const last = frames.at(-1);
  if (last !== undefined && atMs - last.atMs < FRAME_MS) frames[frames.length - 1] = { ...last, rows: screen.rows() };
  else frames.push({ atMs, rows: screen.rows() });
});

const terminal = new Terminal(child);
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function type(words: string): Promise<void> {
  for (const key of words) {
    terminal.type(key);
    await rest(KEY_MS);
  }
  await rest(READ_MS / 3);
}

try {
  await terminal.sees(PROMPT);
  await type('vidro run "how much disk is free?"\n');
  await terminal.sees("tokens");
  await terminal.sees(PROMPT);
  await rest(READ_MS);
  await type(`vidro run 'run "echo hello >> notes.txt" and "wc -l notes.txt"'\n`);
  await terminal.sees("y yes");
  await rest(READ_MS * 2);
  await type("y");
  await terminal.sees("tokens");
  await terminal.sees(PROMPT);
} finally {
  await terminal.hangUp();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
mkdirSync(`${ROOT}docs/images`, { recursive: true });
writeFileSync(`${ROOT}docs/images/terminal.svg`, animatedSvg(frames, { columns: COLUMNS, rows: ROWS }));
process.stdout.write(`docs/images/terminal.svg: ${frames.length} frames\n`);
