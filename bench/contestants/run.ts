import { spawn } from "node:child_process";

/** Runs a program on this machine, as one does with node:child_process alone; rejects when it fails. */
export function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.resume();
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}: ${said}`))));
  });
}
