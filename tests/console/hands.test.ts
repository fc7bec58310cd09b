import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { ConsolePage, openBrowser } from "../support/console-browser.ts";

/* What an administrator does with a hand on its tile, with a real host that signs its messages. */

test("a hand gets a new key, is quarantined, works again and is revoked for good on its tile", async () => {
  await using stage = await Stage.set();
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(join(stage.home, "config.json"), JSON.stringify({ southbound_port: 0 }));
  await using daemon = await up(stage);
  const state = join(stage.home, "host");
  const [letter] = lines((await stage.run("hands", "invite", "--installed", "--name", "web-1", "--json")).stdout);
  const url = String(letter?.["command"]).split(" ").at(-1) ?? "";
  const how = ["--token", String(letter?.["token"]), "--transport", "http", "--state", state, "--json"];
  const host = stage.start("hands", "join", url, ...how);
  await once(createInterface({ input: host.stdout }), "line");
  const browser = await openBrowser();
  try {
    const { shown } = await ConsolePage.signIn(browser, stage, daemon);
    await shown.open("/hands");
    const tile = shown.page.getByRole("region", { name: "web-1" });
    const keys = (): string => readFileSync(join(state, "keys.json"), "utf8");
    const first = keys();
    await tile.getByRole("button", { name: "New key" }).click();
    await tile.getByText("Its next message is signed with a new key.").waitFor();
    assert.equal((await stage.run("hands", "exec", "web-1", "--", "uname")).stdout, "Linux\n");
    assert.notEqual(keys(), first);

    await tile.getByRole("button", { name: "Quarantine" }).click();
    await tile.locator(".state.bad").getByText("quarantined").waitFor();
    assert.equal(await tile.getByRole("button", { name: "Run a command…" }).count(), 0);
    assert.notEqual((await stage.run("hands", "exec", "web-1", "--", "uname")).code, 0);
    await tile.getByRole("button", { name: "Let it work again" }).click();
    await tile.locator(".state.ok").waitFor();

    await tile.getByRole("button", { name: "Revoke" }).click();
    assert.equal(await tile.getByText("revoked").count(), 0, "one click revokes nothing");
    await tile.getByRole("button", { name: "Revoke for good?" }).click();
    await tile.locator(".state.bad").getByText("revoked").waitFor();
    await tile.getByRole("button", { name: "Quarantine" }).waitFor({ state: "detached" });
    await shown.assertAccessible();
    assert.deepEqual(shown.troubles, []);
  } finally {
    await browser.close();
  }
});
