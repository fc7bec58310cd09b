// npm start [-- "<task>" | -- <command>]: sets up what is missing, then brings up the daemon, or runs the task or the
// command of vidro.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { ROOT, setUpToRun } from "./setup.js";

// Both at once: most of the time of an installation is waiting.
const bundler = existsSync(`${ROOT}scripts/bundler/node_modules`)
  ? undefined
  : once(spawn(process.execPath, [`${ROOT}scripts/install.js`, "scripts/bundler"], { stdio: "inherit" }), "exit");
setUpToRun();
await bundler;
// Without a bundle the commands run from their sources, and start in more than twice the time.
if (spawnSync(process.execPath, [`${ROOT}scripts/bundler/main.js`], { stdio: "inherit" }).status !== 0)
  process.stderr.write("vidro: the commands could not be bundled; they start from their sources\n");
const vidro = `${ROOT}packages/cli/bin/vidro`;
const args = commandLine(process.argv.slice(2));
if (args[0] === "up") tryBuild();
// npm runs scripts in the repository; the task is about the folder that the person is in.
const cwd = process.env["INIT_CWD"] ?? process.cwd();
const child = spawn(vidro, args, { stdio: "inherit", cwd });
process.on("SIGINT", () => undefined);
for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
});

/**
 * The command line of vidro: its own words when they begin with a command, which help knows; other words are a task.
 * @param {string[]} words
 */
function commandLine(words) {
  const [first] = words;
  if (first === undefined) return ["up"];
  const isCommand = /^[a-z]/.test(first) && spawnSync(vidro, ["help", first], { stdio: "ignore" }).status === 0;
  return isCommand || first === "help" ? words : ["run", ...words];
}

/** Builds the console. When that fails, for want of a network, the daemon starts all the same, and its page says so. */
function tryBuild() {
  const { status } = spawnSync(process.execPath, [`${ROOT}scripts/console.js`], { stdio: "inherit" });
  if (status !== 0) process.stderr.write("vidro: the daemon starts without its console\n");
}
