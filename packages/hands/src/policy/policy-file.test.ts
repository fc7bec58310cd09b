import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
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

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;
const empty = (more: object): string => JSON.stringify({ trusted: [], secrets: [], env: {}, rules: [], ...more });

test("the host's policy counts instead of that of the state, and is root's alone or none", { skip: !isRoot }, (t) => {
  const folder = scratch(t);
  const [host, state] = [join(folder, "etc"), join(folder, "state")];
  for (const path of [host, state]) mkdirSync(path);
  const places = { file: join(state, "policy.json"), hostFile: join(host, "policy.json"), workspace: state, state };
  writeFileSync(places.file, empty({}));
  assert.deepEqual([openPolicy(places).file, openPolicy(places).policy.host], [places.file, undefined]);
  writeFileSync(places.hostFile, empty({ host: "deny" }));
  assert.deepEqual([openPolicy(places).file, openPolicy(places).policy.host], [places.hostFile, "deny"]);
  chmodSync(places.hostFile, 0o664);
  assert.throws(() => openPolicy(places), { code: "BAD_POLICY", message: /has to belong to root/ });
  chmodSync(places.hostFile, 0o644);
  chownSync(host, NOBODY, NOBODY);
  assert.throws(() => openPolicy(places), { code: "BAD_POLICY", message: /has to belong to root/ });
});

test("a policy that the hand's own user may change is told, and one of root's is not", { skip: !isRoot }, (t) => {
  const folder = scratch(t);
  const [host, state] = [join(folder, "etc"), join(folder, "state")];
  for (const path of [host, state]) mkdirSync(path, { mode: 0o755 });
  chmodSync(folder, 0o755);
  chownSync(state, NOBODY, NOBODY);
  const places = { file: join(state, "policy.json"), hostFile: join(host, "policy.json"), workspace: "/tmp", state };
  const open = `
    import { openPolicy } from ${JSON.stringify(join(import.meta.dirname, "policy-file.ts"))};
    console.log(openPolicy(${JSON.stringify(places)}).warning);`;
  const args = ["--conditions=vidro-source", "--input-type=module", "-e", open];
  const warning = (): string =>
    execFileSync(process.execPath, args, { uid: NOBODY, gid: NOBODY, cwd: "/", encoding: "utf8" });
  assert.match(warning(), /The shipped policy counts, and the user of this hand may put another one in its place/);
  // Root's own file in a folder of the hand's user can be put aside.
  writeFileSync(places.file, empty({}));
  assert.match(warning(), /state\/policy\.json counts, and the user of this hand may put another one/);
  writeFileSync(places.hostFile, empty({}));
  assert.equal(warning(), "undefined\n");
  assert.equal(openPolicy(places).warning, undefined, "root may change everything");
});
