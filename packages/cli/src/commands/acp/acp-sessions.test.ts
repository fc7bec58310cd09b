import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { ACP_LIMITS } from "@vidro/core";
import { AcpSessions } from "./acp-sessions.ts";

/** A file of sessions that is gone after the test. */
function fileIn(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-acp-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "acp-sessions.json");
}

describe("sessions of editors", () => {
  it("are found again by the process that kept them and by the next one", async (t) => {
    const file = fileIn(t);
    const session = { cwd: "/w", thread: "thr_1", runs: ["run_1", "run_2"] };
    const sessions = new AcpSessions(file);
    await sessions.keep("acp_1", session);
    assert.deepEqual(await sessions.find("acp_1"), session);
    assert.deepEqual(await new AcpSessions(file).find("acp_1"), session);
    assert.equal(statSync(file).mode & 0o077, 0, "for the owner alone");
    await assert.rejects(sessions.find("acp_2"), { code: "NOT_FOUND", message: /acp_2/ });
    await assert.rejects(sessions.find("__proto__"), { code: "NOT_FOUND" });
    await assert.rejects(sessions.find("constructor"), { code: "NOT_FOUND" });
  });

  it("are all kept when many are kept at once", async (t) => {
    const file = fileIn(t);
    const sessions = new AcpSessions(file);
    const ids = Array.from({ length: 30 }, (_, at) => `acp_${at}`);
    await Promise.all(ids.map((id) => sessions.keep(id, { cwd: `/${id}`, runs: [] })));
    for (const id of ids) assert.equal((await sessions.find(id)).cwd, `/${id}`);
    assert.deepEqual(readdirSync(join(file, "..")), ["acp-sessions.json"]);
  });

  it("of two editors do not overwrite each other", async (t) => {
    const file = fileIn(t);
    const [one, other] = [new AcpSessions(file), new AcpSessions(file)];
    await one.keep("acp_1", { cwd: "/one", runs: [] });
    await other.keep("acp_2", { cwd: "/other", runs: [] });
    await one.keep("acp_1", { cwd: "/one", runs: ["run_1"] });
    assert.equal((await new AcpSessions(file).find("acp_2")).cwd, "/other");
    assert.deepEqual((await other.find("acp_1")).runs, ["run_1"]);
  });

  it("are bounded: the one that was kept longest ago is forgotten", async (t) => {
    const file = fileIn(t);
    const full = Array.from({ length: ACP_LIMITS.sessions }, (_, at) => [`acp_${at}`, { cwd: "/w", runs: [] }]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(full)));
    const sessions = new AcpSessions(file);
    await sessions.keep("acp_0", { cwd: "/w", runs: ["run_1"] });
    await sessions.keep("acp_new", { cwd: "/w", runs: [] });
    await assert.rejects(sessions.find("acp_1"), { code: "NOT_FOUND" });
    assert.deepEqual((await sessions.find("acp_0")).runs, ["run_1"], "it was used since");
    assert.equal(Object.keys(JSON.parse(readFileSync(file, "utf8")) as object).length, ACP_LIMITS.sessions);
  });

  it("begin anew from a file that is damaged, and damaged ones in it are left out", async (t) => {
    const whole = { cwd: "/w", runs: [] };
    for (const text of ["", "{", "null", "[1]", '"x"', "\u0000"]) {
      const file = fileIn(t);
      writeFileSync(file, text);
      const sessions = new AcpSessions(file);
      await assert.rejects(sessions.find("acp_1"), { code: "NOT_FOUND" }, text);
      await sessions.keep("acp_1", whole);
      assert.deepEqual(await sessions.find("acp_1"), whole);
    }
    const file = fileIn(t);
    const bad = { a: 5, b: null, c: { cwd: 1, runs: [] }, d: { cwd: "/", runs: "x" }, e: { cwd: "/", runs: [7] } };
    writeFileSync(file, JSON.stringify({ ...bad, f: { cwd: "/", runs: [], thread: 1 }, good: whole }));
    const sessions = new AcpSessions(file);
    for (const id of "abcdef") await assert.rejects(sessions.find(id), { code: "NOT_FOUND" }, id);
    assert.deepEqual(await sessions.find("good"), whole);
  });

  it("that cannot be written are a fault of that one, and the next one is tried", async (t) => {
    const file = fileIn(t);
    const sessions = new AcpSessions(join(file, "..", "later", "sessions.json"));
    await assert.rejects(sessions.keep("acp_1", { cwd: "/w", runs: [] }), { code: "ENOENT" });
    await assert.rejects(sessions.find("acp_1"), { code: "NOT_FOUND" });
  });
});
