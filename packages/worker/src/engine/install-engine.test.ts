import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { installEngine, isEngineThere } from "./install-engine.ts";

test("an engine that is there is left as it is; one that cannot be installed says why, and leaves nothing", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-engine-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = process.env["PATH"];
  t.after(() => (process.env["PATH"] = path));
  // An npm of one's own in the place of the real one, which would load 83 MB.
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const npm = (script: string) => writeFileSync(join(bin, "npm"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  process.env["PATH"] = `${bin}:/usr/bin:/bin`;
  const engine = join(folder, "home", "engine");

  npm("echo 'no such host' >&2; exit 1");
  await assert.rejects(installEngine(engine), {
    code: "MODEL_UNAVAILABLE",
    message: /no such host[^]*copy the folder/,
  });
  npm("kill -9 $$");
  await assert.rejects(installEngine(engine), { code: "MODEL_UNAVAILABLE", message: /npm ended with a signal/ });
  assert.equal(isEngineThere(engine), false);
  assert.deepEqual(readdirSync(folder).sort(), ["bin", "home"]);
  assert.deepEqual(readdirSync(join(folder, "home")), []);

  npm(`mkdir -p node_modules/node-llama-cpp && echo '{}' > node_modules/node-llama-cpp/package.json; echo "$@" > args`);
  await installEngine(engine);
  assert.equal(isEngineThere(engine), true);
  assert.ok(readdirSync(engine).includes("package-lock.json"));
  npm("exit 1");
  await installEngine(engine);
  assert.deepEqual(readdirSync(join(folder, "home")), ["engine"]);
});
