import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

test("reading what was run loads no hand and no rules of the offline model", async (t) => {
  const loaded: string[] = [];
  const hooks = registerHooks({
    load(url, context, next) {
      loaded.push(url);
      return next(url, context);
    },
  });
  t.after(() => hooks.deregister());
  const folder = await mkdtemp(join(tmpdir(), "vidro-brain-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { openBrain } = await import("./compose.ts");
  const brain = await openBrain({ home: join(folder, "state"), env: { VIDRO_MODEL: "offline" } });
  t.after(() => brain.close());
  await brain.runs.list({ limit: 1 });
  await brain.model();
  const late = /\/hands\/|\/offline\/|\/node_modules\//;
  assert.deepEqual(
    loaded.filter((url) => late.test(url)),
    [],
  );
  await brain.hand(folder);
  assert.ok(loaded.some((url) => url.includes("/hands/")));
  // What a hand needs only for some of its actions waits for the first of them.
  assert.deepEqual(
    loaded.filter((url) => url.includes("/node_modules/")),
    [],
  );
});
