import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { handStateFolder, stateFolder } from "./config.ts";

test("VIDRO_HOME comes first, then the state directory of XDG, then the one in the user's home", () => {
  assert.equal(stateFolder({ VIDRO_HOME: "/a", XDG_STATE_HOME: "/b" }), "/a");
  assert.equal(stateFolder({ VIDRO_HOME: "near" }), resolve("near"));
  assert.equal(stateFolder({ VIDRO_HOME: "", XDG_STATE_HOME: "/b" }), "/b/vidro");
  assert.equal(stateFolder({ XDG_STATE_HOME: "relative" }), join(homedir(), ".local/state/vidro"));
});

test("a hand keeps its state in the folder of its service, else in the folder of all state", () => {
  assert.equal(handStateFolder({ STATE_DIRECTORY: "/s", VIDRO_HOME: "/a" }), "/s");
  assert.equal(handStateFolder({ VIDRO_HOME: "/a" }), "/a/joined");
  assert.equal(handStateFolder({ XDG_STATE_HOME: "/b" }), "/b/vidro/joined");
});
