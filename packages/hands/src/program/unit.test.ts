import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../bin/vidro-hand", import.meta.url));

function shown(...args: readonly string[]): string {
  return execFileSync(LAUNCHER, ["unit", "--dry-run", ...args], { encoding: "utf8" });
}

/** The unit in what is shown. */
function unitIn(text: string): string {
  return text.slice(text.indexOf("[Unit]"), text.indexOf("systemctl daemon-reload"));
}

test("000-55: the service has a user of its own that can do nothing else, and no way to more rights", () => {
  const text = shown();
  assert.match(text, /^useradd --system .* --shell \/usr\/sbin\/nologin vidro-hand$/m);
  assert.match(text, /^install -d -m 0700 -o vidro-hand -g vidro-hand /m);
  const unit = unitIn(text);
  for (const line of [
    "User=vidro-hand",
    "NoNewPrivileges=yes",
    "CapabilityBoundingSet=",
    "ProtectSystem=strict",
    "StateDirectoryMode=0700",
    "UMask=0077",
    "RestrictSUIDSGID=yes",
  ])
    assert.ok(unit.split("\n").includes(line), line);
  const [, state] = /--state (\S+)/.exec(unit) ?? [];
  const [, workspace] = /--workspace (\S+)/.exec(unit) ?? [];
  assert.ok(state !== undefined && workspace !== undefined && !workspace.startsWith(`${state}/`));
});

test("000-55: systemd takes the unit as it is", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-unit-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "vidro-hand.service");
  writeFileSync(path, unitIn(shown()));
  const { stderr, error } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
  // Without systemd there is no verifier; the lines themselves are checked above.
  if (error === undefined) assert.doesNotMatch(stderr, /Unknown|Failed to parse|invalid/i, stderr);
});

test("another user and workspace are taken, and names that could mean something else are not", () => {
  const unit = unitIn(shown("--user", "deploy", "--workspace", "/srv/app"));
  assert.match(unit, /^User=deploy$/m);
  assert.match(unit, /--workspace \/srv\/app$/m);
  for (const args of [
    ["--user", "a b"],
    ["--user", "-x"],
    ["--workspace", "relative"],
    ["--workspace", "/a\nExecStartPre=/bin/sh"],
  ]) {
    const { status, stderr } = spawnSync(LAUNCHER, ["unit", "--dry-run", ...args], { encoding: "utf8" });
    assert.equal(status, 2, stderr);
  }
});
