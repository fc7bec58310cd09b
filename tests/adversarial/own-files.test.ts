import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openBrain } from "@vidro/brain";
import { readConfig } from "@vidro/brain/config";
import { Watches } from "../../packages/hands/src/host/watches.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { approved, target } from "./attack.fixture.ts";

/* What Vidro keeps is closed to other users of the host, also in a folder that was open before. */

const modeOf = (path: string): number => statSync(path).mode & 0o777;

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vidro-own-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("every file and folder of a home that was open is closed to others", async (t) => {
  const folder = await folderFor(t);
  const [home, workspace] = [join(folder, "home"), join(folder, "work")];
  for (const path of [home, join(home, "hand"), workspace]) mkdirSync(path, { mode: 0o755 });
  const brain = await openBrain({ home, config: readConfig({ env: {} }) });
  const hand = await brain.hand(workspace);
  const watches = await Watches.open({ file: join(home, "hand/watches.db"), reserved: home });
  for (const path of [home, ...readdirSync(home, { recursive: true }).map((name) => join(home, String(name)))])
    assert.equal(modeOf(path) & 0o077, 0, path);
  await watches.close();
  await hand.close();
  await brain.close();
});

test("a folder of other things that others may enter is no home, and stays as it is", async (t) => {
  const home = await folderFor(t);
  writeFileSync(join(home, "index.html"), "");
  chmodSync(home, 0o755);
  await assert.rejects(openBrain({ home, config: readConfig({ env: {} }) }), {
    code: "STORE_UNREADABLE",
    message: /open to other users.*VIDRO_HOME/,
  });
  assert.equal(modeOf(home), 0o755);
});

test("an approved line that reads files of the kernel runs, although they change with each look", async (t) => {
  const at = await target(t);
  for (const command of [
    "sh -c true; grep Cap /proc/self/status",
    "cat /proc/uptime /proc/self/stat; bash -c 'cat /sys/kernel/mm/ksm/run'",
  ]) {
    const { fault } = await approved(at.hand, "shell", { command, access: "host" });
    assert.equal(fault, undefined, command);
  }
});

test("the administrator's token is redacted in every form at the first start already", async () => {
  await using at = await Stage.set();
  await using daemon = await DaemonProcess.up(at, { flags: ["--port", "0"] });
  const [, half = ""] = daemon.token.split(".");
  const forms = [half, Buffer.from(half, "base64url").toString("hex"), Buffer.from(half).toString("base64")];
  const run = await daemon.run(`how much disk is free? ${forms.join(" ")}`);
  const journal = await (await daemon.ask(`/v1/runs/${run}`)).text();
  assert.match(journal, /\[redacted\]/);
  for (const form of forms) assert.ok(!journal.includes(form), form);
});
