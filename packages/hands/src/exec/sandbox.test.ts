import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { before, describe, it, type TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { findHostSandbox, type Sandbox, type SandboxScope } from "./sandbox.ts";
import { scratch } from "../scratch.fixture.ts";

const isLinuxWithBubblewrap = existsSync("/usr/bin/bwrap");

describe("the sandbox", () => {
  let sandbox: Sandbox | undefined;
  before(async () => {
    sandbox = await findHostSandbox();
  });

  function scopeIn(t: TestContext, confined: SandboxScope["confined"]): SandboxScope {
    const folder = scratch(t);
    const [workspace, state] = [join(folder, "workspace"), join(folder, "state")];
    for (const path of [workspace, state]) mkdirSync(path);
    writeFileSync(join(workspace, "note"), "seen");
    writeFileSync(join(state, "secret"), "unseen");
    return {
      confined,
      workspace,
      state,
      reserved: [state],
      env: { PATH: process.env["PATH"] ?? "" },
    };
  }

  async function run(command: string, scope: SandboxScope): Promise<{ code: number; text: string }> {
    assert.ok(sandbox !== undefined);
    const cell = await sandbox.hold(scope);
    const order = { line: ["/bin/sh", "-c", command], cwd: scope.workspace, tag: "test", ...HAND_LIMITS };
    const { child } = await cell.run({ ...order, hasInput: false });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
    const [code] = await once(child, "close");
    return { code: code ?? -1, text };
  }

  it("is found exactly where bubblewrap works", () => {
    assert.equal(sandbox !== undefined, isLinuxWithBubblewrap);
  });

  it("reads everywhere and writes nowhere with access read", async (t) => {
    const scope = scopeIn(t, "files");
    assert.deepEqual(await run("cat note; cat /etc/hostname >/dev/null", scope), { code: 0, text: "seen" });
    for (const path of ["note", "new", "/etc/vidro-test", "/usr/vidro-test", "/var/vidro-test"]) {
      assert.notEqual((await run(`echo x > ${path}`, scope)).code, 0, path);
    }
    assert.deepEqual(await run("cat note", scope), { code: 0, text: "seen" });
  });

  it("writes the workspace and nothing else with access workspace", async (t) => {
    const scope = scopeIn(t, "workspace");
    assert.equal((await run("echo x > new", scope)).code, 0);
    assert.ok(existsSync(join(scope.workspace, "new")));
    assert.notEqual((await run("echo x > /usr/vidro-test", scope)).code, 0);
    assert.equal((await run("echo x > /tmp/vidro-private-test && cat /tmp/vidro-private-test", scope)).text, "x\n");
    assert.ok(!existsSync("/tmp/vidro-private-test"), "its /tmp is its own");
  });

  it("hides the hand's state, wherever it lies, and the secrets of the host", async (t) => {
    const scope = scopeIn(t, "workspace");
    assert.match((await run(`cat ${scope.state}/secret`, scope)).text, /No such file/u);
    const own = join(scope.workspace, ".state");
    const within = { ...scope, state: own, reserved: [own] };
    mkdirSync(within.state);
    writeFileSync(join(within.state, "secret"), "unseen");
    assert.match((await run(`cat ${within.state}/secret`, within)).text, /No such file/u);
    const above = join(scope.workspace, "..");
    const around = { ...scope, state: above, reserved: [above], confined: "files" as const };
    assert.equal((await run("cat note; ls ../state 2>&1 | wc -l", around)).code, 0);
    assert.ok(!(await run("cat /etc/shadow", scope)).text.includes("root:"));
  });

  it("has no network, not even the host's loopback, and no processes but its own", async (t) => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const scope = scopeIn(t, "files");
    assert.notEqual((await run(`bash -c 'echo > /dev/tcp/127.0.0.1/${port}'`, scope)).code, 0);
    assert.equal(
      (await run(`[ -d /proc/${process.pid}/fd ] && tr '\\0' ' ' < /proc/${process.pid}/cmdline`, scope)).text,
      "",
    );
  });

  it("runs a covered command although folders that it is kept from are removed meanwhile", async (t) => {
    if (sandbox?.cover === undefined) return;
    const { workspace } = scopeIn(t, "files");
    const states = scratch(t);
    const names = Array.from({ length: 8 }, (_, index) => join(states, String(index)));
    const errors: string[] = [];
    for (let round = 0; round < 20; round++) {
      for (const folder of names) mkdirSync(folder);
      const remover = spawn("rmdir", names, { stdio: "ignore" });
      const removed = once(remover, "exit");
      const held = await sandbox.cover(["/bin/true"], { workspace, cwd: workspace, reserved: names });
      const ended = spawnSync(held.program, held.argv.slice(1), { encoding: "utf8" });
      await removed;
      if (ended.status !== 0) errors.push(ended.stderr);
    }
    assert.deepEqual(errors, []);
  });

  it("keeps exit codes", async (t) => {
    assert.equal((await run("exit 42", scopeIn(t, "files"))).code, 42);
  });
});
