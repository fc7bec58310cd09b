import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { stateFolder } from "./home.ts";

test("VIDRO_HOME comes first, then the state directory of XDG, then the one in the user's home", () => {
  assert.equal(stateFolder({ VIDRO_HOME: "/a", XDG_STATE_HOME: "/b" }), "/a");
  assert.equal(stateFolder({ VIDRO_HOME: "near" }), resolve("near"));
  assert.equal(stateFolder({ VIDRO_HOME: "", XDG_STATE_HOME: "/b" }), "/b/vidro");
  assert.equal(stateFolder({ XDG_STATE_HOME: "relative" }), join(homedir(), ".local/state/vidro"));
});
