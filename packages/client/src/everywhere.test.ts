import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { WaitLimit } from "./wait-limit.ts";
import { answer, begin, cursorOf, cut, linesAfter, scriptedBrain } from "./scripted-brain.fixture.ts";

/** The TCP client is an entry of its own, which only Node can load. */
const SOURCES = globSync("*.ts", { cwd: import.meta.dirname }).filter(
  (name) => name !== "tcp.ts" && !/\.(test|fixture)\.ts$/.test(name),
);

test("the client needs nothing that only one runtime has", () => {
  assert.ok(SOURCES.length > 5);
  for (const name of SOURCES) {
    const text = readFileSync(join(import.meta.dirname, name), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    assert.doesNotMatch(text, /"node:|\bprocess\b|\bBuffer\b|\brequire\(|\bglobal\b|\bwindow\b|\bdocument\b/, name);
    const imported = [...text.matchAll(/from "([^"]+)"/g)].map((match) => match[1] ?? "");
    assert.deepEqual(
      imported.filter((from) => !/^@vidro\/core(?:\/|$)/.test(from) && !/^\.\/(?!tcp)/.test(from)),
      [],
      name,
    );
  }
});

test("a run is started and followed across a cut in a world that has only what browsers have", async () => {
  const HEAD = { id: "run_1", owner: "", thread: "", task: "", status: "running", seq: 1, startedAt: 1, updatedAt: 1 };
  await using brain = await scriptedBrain((response, request, n) => {
    if (request.method === "POST") answer(response, 201, HEAD);
    else if (n === 2) cut(response, linesAfter(0).slice(0, 2).join(""));
    else begin(response).end(linesAfter(cursorOf(request)).join(""));
  });
  const program = join(import.meta.dirname, "bare.fixture.ts");
  const flags = ["--conditions=vidro-source", "--experimental-vm-modules"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, brain.url]);
  assert.deepEqual(JSON.parse(stdout), {
    types: ["plan.made", "model.called", "note.observed", "model.called", "model.delta", "run.finished"],
    result: "fünf",
  });
});

test("a wait limit aborts while something is waited for, and only then", async () => {
  const limit = new WaitLimit(undefined);
  await limit.wait(new Promise((resolve) => setTimeout(resolve, 5)), 1000);
  assert.equal(limit.signal.aborted, false);
  const never = new Promise((_resolve, reject) => {
    limit.signal.addEventListener("abort", () => reject(limit.signal.reason));
  });
  await assert.rejects(limit.wait(never, 5), { code: "BRAIN_UNREACHABLE", message: /for 0\.005 s/ });
});
