import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { reloadableCertificate } from "./signals.ts";

const MODULE = new URL("signals.ts", import.meta.url).href;

/** A process that handles signals, and what it says of them. */
async function serving(t: TestContext, reloadables: string) {
  const script = `
    import { serveSignals } from ${JSON.stringify(MODULE)};
    const say = (...words) => console.log(JSON.stringify(words));
    let loads = 0;
    serveSignals(${reloadables}, (event, fields) => say(event, fields));
    setInterval(() => undefined, 1000);
    say("ready");`;
  const args = [
    ...process.execArgv.filter((flag) => flag.startsWith("--conditions")),
    "--input-type=module",
    "-e",
    script,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value as string);
  assert.deepEqual(await next(), ["ready"]);
  return { child, next };
}

test("a hang-up reads every setting again, one after the other, and one that fails does not keep the others", async (t) => {
  const { child, next } = await serving(
    t,
    `() => [
      { what: "policy", reload: async () => { loads += 1; } },
      { what: "broken", reload: () => { throw new Error("line one\\nline two\\u001b[2J" + "x".repeat(9000)); } },
      { what: "count", reload: async () => { say("loads", loads); } },
    ]`,
  );
  for (const round of [1, 2]) {
    child.kill("SIGHUP");
    assert.deepEqual(await next(), ["settings.reloaded", { what: "policy" }]);
    const [event, { what, reason }] = (await next()) as [string, { what: string; reason: string }];
    assert.deepEqual([event, what], ["settings.reload_failed", "broken"]);
    assert.match(reason, /^line one line two/);
    assert.ok(reason.length <= 400 && !reason.includes("\n") && !reason.includes("\u001b"));
    assert.deepEqual(await next(), ["loads", round]);
    assert.deepEqual(await next(), ["settings.reloaded", { what: "count" }]);
  }
});

test("signals of users end nothing and open no debugger, and are told of once each", async (t) => {
  const { child, next } = await serving(t, '() => [{ what: "alive", reload: () => undefined }]');
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
    for (let nth = 0; nth < 3; nth += 1) child.kill(signal);
    assert.deepEqual(await next(), ["signal.ignored", { signal }]);
  }
  child.kill("SIGHUP");
  assert.deepEqual(await next(), ["settings.reloaded", { what: "alive" }]);
  child.kill("SIGTERM");
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  assert.equal(signal, "SIGTERM");
});

test("settings that cannot be asked for now are asked for at the next hang-up", async (t) => {
  const { child, next } = await serving(
    t,
    `() => {
      loads += 1;
      say("asked", loads);
      if (loads === 1) throw new Error("not yet");
      return [{ what: "policy", reload: () => undefined }];
    }`,
  );
  child.kill("SIGHUP");
  assert.deepEqual(await next(), ["asked", 1]);
  child.kill("SIGHUP");
  assert.deepEqual(await next(), ["asked", 2]);
  assert.deepEqual(await next(), ["settings.reloaded", { what: "policy" }]);
});

test("the certificate of a server is set anew from its files, and a server without TLS has none", async () => {
  const set: unknown[] = [];
  const pem = { cert: "c", key: "k" };
  const [one] = reloadableCertificate({ secure: (tls) => void set.push(tls) }, async () => pem);
  await one?.reload();
  assert.deepEqual(set, [pem]);
  const [none] = reloadableCertificate({ secure: (tls) => void set.push(tls) }, async () => undefined);
  await none?.reload();
  assert.equal(set.length, 1);
  assert.deepEqual(
    reloadableCertificate({}, async () => pem),
    [],
  );
  const [failing] = reloadableCertificate({ secure: () => undefined }, () => Promise.reject(new Error("gone")));
  await assert.rejects(async () => failing?.reload(), /gone/);
});
