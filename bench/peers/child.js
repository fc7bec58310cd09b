// @ts-nocheck
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as rest } from "node:timers/promises";

/** A server as a child process: ready when `probe` no longer throws, gone when `end` resolves. */
export async function server(command, args, { probe, ...options }) {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], ...options });
  const gone = once(child, "exit");
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-2000)));
  const end = async () => {
    child.kill("SIGINT");
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await gone;
    clearTimeout(timer);
  };
  // Whatever happens to us, it must not outlive us.
  process.once("exit", () => child.kill("SIGKILL"));
  for (let tries = 1; ; tries += 1) {
    try {
      await probe();
      return { pid: child.pid, end };
    } catch (thrown) {
      if (child.exitCode !== null || tries > 600) {
        await end();
        throw new Error(`${command} did not come up: ${said}`, { cause: thrown });
      }
      await rest(50);
    }
  }
}
