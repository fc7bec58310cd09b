import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Syncs of a process that fail, until it is ended. */
export interface FailingSyncs {
  end(): Promise<void>;
}

/**
 * Makes syncs of a running process fail with EIO, as a disk that loses writes does: the kernel is kept from doing them
 * by strace. `when` says which: "1" the next one, "3+3" every third, "1+" all of them.
 */
export async function failSyncs(pid: number, when: string): Promise<FailingSyncs> {
  const syncs = "fsync,fdatasync";
  const args = ["-f", "-o", "/dev/null", "-e", `trace=${syncs}`, "-e", `inject=${syncs}:error=EIO:when=${when}`];
  const tracer = spawn("strace", [...args, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  const gone = once(tracer, "exit");
  let said = "";
  for await (const chunk of tracer.stderr.setEncoding("utf8") as AsyncIterable<string>) {
    said += chunk;
    if (said.includes("attached")) break;
  }
  assert.match(said, /attached/, `strace cannot be attached: ${said}`);
  return {
    async end() {
      tracer.kill("SIGTERM");
      await gone;
    },
  };
}
