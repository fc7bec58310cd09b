import assert from "node:assert/strict";
import { readConfig } from "./config.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

/** The addresses of all modules that are loaded from now on. */
function watchLoading(t: TestContext): readonly string[] {
  const loaded: string[] = [];
  const hooks = registerHooks({
    load(url, context, next) {
      loaded.push(url);
      return next(url, context);
    },
  });
  t.after(() => hooks.deregister());
  return loaded;
}

test("reading what was run loads no hand, no rules of the offline model and no adapter for servers with models", async (t) => {
  const loaded = watchLoading(t);
  const folder = await mkdtemp(join(tmpdir(), "vidro-brain-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { openBrain } = await import("./brain.ts");
  const brain = await openBrain({
    home: join(folder, "state"),
    config: readConfig({ env: { VIDRO_MODEL: "offline" } }),
  });
  t.after(() => brain.close());
  await brain.runs.list({ limit: 1 });
  await brain.model();
  const late = /\/packages\/hands\/|\/offline\/|\/ai-sdk|\/vendors\/|\/memory\.ts|\/relay|\/node_modules\//;
  assert.deepEqual(
    loaded.filter((url) => late.test(url)),
    [],
  );
  await brain.hand(folder);
  assert.ok(loaded.some((url) => url.includes("/packages/hands/")));
  // What a hand needs only for some of its actions waits for the first of them.
  assert.deepEqual(
    loaded.filter((url) => /\/node_modules\/|\/hands\/src\/web\//.test(url)),
    [],
  );
});

test("a daemon is up before any package of others is loaded", async (t) => {
  const loaded = watchLoading(t);
  const folder = await mkdtemp(join(tmpdir(), "vidro-brain-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { startDaemon } = await import("./start-daemon.ts");
  const daemon = await startDaemon({
    home: join(folder, "state"),
    config: readConfig({ env: { VIDRO_MODEL: "offline" } }),
    workspace: folder,
    host: "127.0.0.1",
    port: 0,
    onRestart: "resume",
    localHand: true,
    version: "0.0.0",
    writeLog: () => undefined,
  });
  t.after(() => daemon.close());
  assert.deepEqual(
    loaded.filter((url) => url.includes("/node_modules/")),
    [],
  );
  // Nor what dials hands that listen: there are none.
  assert.deepEqual(
    loaded.filter((url) => /\/client\/|\/agent-tcp|\/dialled-hands/.test(url)),
    loaded.filter((url) =>
      /\/north\/hands\/dialled-hands\.ts$|\/agent-tcp\/(?:tcp-dialler|dial-options)\.ts$/.test(url),
    ),
  );
  // Nor all of fetch, which lies behind some names that node:http exports.
  const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
  assert.ok(!moduleLoadList.some((name) => name.endsWith("/undici")));
});
