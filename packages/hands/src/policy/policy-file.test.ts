import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openPolicy } from "./policy-file.ts";
import { scratch } from "../scratch.fixture.ts";

test("a workspace that is not there is told by name", (t) => {
  const state = scratch(t);
  const workspace = join(state, "gone");
  const open = () => openPolicy({ file: join(state, "policy.json"), workspace, state });
  assert.throws(open, { code: "NOT_FOUND", message: new RegExp(`The workspace ${workspace} is no folder`) });
});

test("a user whose home is not there has a policy all the same", (t) => {
  const state = scratch(t);
  const { HOME } = process.env;
  t.after(() => (HOME === undefined ? delete process.env["HOME"] : (process.env["HOME"] = HOME)));
  process.env["HOME"] = join(state, "nobody");
  const { policy } = openPolicy({ file: join(state, "policy.json"), workspace: state, state });
  assert.equal(policy.places.home, join(state, "nobody"));
});
