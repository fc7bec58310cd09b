import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "../scratch.fixture.ts";
import { findSecretPaths } from "./secret-paths.ts";

test("patterns become the files and folders that they stand for", (t) => {
  const home = scratch(t);
  const places = { home, workspace: "/srv/work", state: "/srv/*state" };
  mkdirSync(join(home, "people/ada/.ssh"), { recursive: true });
  mkdirSync(join(home, "people/eve"));
  for (const name of [".a_history", ".b_history", "history"]) writeFileSync(join(home, name), "");
  assert.deepEqual(findSecretPaths(["{home}/.*_history"], places).toSorted(), [
    join(home, ".a_history"),
    join(home, ".b_history"),
  ]);
  assert.deepEqual(
    findSecretPaths(["{home}/people/*/.ssh/**"], places).toSorted(),
    ["ada", "eve"].map((name) => join(home, "people", name, ".ssh")),
  );
  assert.deepEqual(findSecretPaths(["{state}/**", "/etc/shadow", "/nowhere/*/x"], places), [
    "/srv/*state",
    "/etc/shadow",
  ]);
  assert.deepEqual(findSecretPaths(["/proc/*/environ", "/proc/self/environ"], places), []);
});
