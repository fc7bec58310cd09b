import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";

/* A host that joins over signed HTTP, as people do it: three commands, three processes, one listener in TLS. */

test("000-41, 000-53: a host joins over signed HTTP, works, gets its next key by one command, and works on", async () => {
  await using stage = await Stage.set();
  await using _ = await DaemonProcess.up(stage, { flags: ["--port", "0", "--southbound-port", "0"] });
  const invited = await stage.run("hands", "invite", "--installed", "--name", "web-1", "--json");
  const [letter] = lines(invited.stdout);
  const url = String(letter?.["command"]).split(" ").at(-1) ?? "";
  const state = join(stage.home, "host");
  const how = ["--token", String(letter?.["token"]), "--transport", "http", "--state", state, "--json"];
  const hand = stage.start("hands", "join", url, ...how);
  const [ready] = (await once(createInterface({ input: hand.stdout }), "line")) as [string];
  const { agent_id: id } = JSON.parse(ready) as { agent_id: string };
  const [shown] = lines((await stage.run("hands", "show", "web-1", "--json")).stdout);
  assert.deepEqual([shown?.["id"], shown?.["gateway"], shown?.["state"]], [id, "agent-http", "ok"]);

  const uname = await stage.run("hands", "exec", "web-1", "--", "uname");
  assert.deepEqual([uname.code, uname.stdout], [0, "Linux\n"]);

  const keys = join(state, "keys.json");
  assert.equal(statSync(keys).mode & 0o777, 0o600);
  const before = keyIds(keys);
  const rotated = lines((await stage.run("hands", "rotate-key", "web-1", "--json")).stdout);
  assert.equal(rotated[0]?.["id"], id);
  assert.equal((await stage.run("hands", "exec", "web-1", "--", "uname")).stdout, "Linux\n");
  assert.deepEqual(keyIds(keys), [rotated[0]?.["key_id"]]);
  assert.notDeepEqual(keyIds(keys), before);

  const other = await stage.run("hands", "rotate-key", "local", "--json");
  assert.equal(other.code, 3, "the brain's own hand signs nothing");
  hand.kill("SIGTERM");
  const [code] = (await once(hand, "exit")) as [number];
  assert.equal(code, 0);
});

function keyIds(file: string): readonly string[] {
  const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys: { keyid: string }[] };
  return keys.map(({ keyid }) => keyid);
}
