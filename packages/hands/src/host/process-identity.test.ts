import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { isAlive, thisProcess } from "./process-identity.ts";

describe("who is alive", () => {
  it("knows this process, and that it is not its own predecessor, namesake or ghost of another boot", () => {
    const self = thisProcess();
    assert.equal(self.pid, process.pid);
    assert.equal(isAlive(self), true);
    assert.equal(isAlive({ ...self, started: "1" }), false);
    assert.equal(isAlive({ ...self, boot: "another" }), false);
    assert.equal(isAlive({ ...self, host: "another" }), false);
  });

  it("knows when a process is gone", async () => {
    const script = "process.stdout.write(require('fs').readFileSync('/proc/self/stat'));setInterval(()=>0,1e9)";
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [stat] = await once(child.stdout, "data");
    const holder = { ...thisProcess(), pid: child.pid ?? 0, started: String(stat).split(" ")[21] ?? "" };
    assert.equal(isAlive(holder), true);
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    assert.equal(isAlive(holder), false);
  });
});
