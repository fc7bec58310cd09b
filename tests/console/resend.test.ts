import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Locator } from "playwright-core";
import { editionsIn } from "../../packages/console/src/run/editions.ts";
import type { Edition } from "../../packages/console/src/run/editions.ts";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import type { RunningDaemon } from "../../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { ConsolePage, openBrowser } from "../support/console-browser.ts";

/* A person edits a message in its place and sends it again, in a real browser. The tests share a daemon and run in order. */

let stage: Stage;
let daemon: RunningDaemon;
let browser: Browser;
let shown: ConsolePage;

before(async () => {
  stage = await Stage.set();
  browser = await openBrowser();
  daemon = await up(stage);
  ({ shown } = await ConsolePage.signIn(browser, stage, daemon));
});

after(async () => {
  await browser.close();
  await daemon.kill();
  await stage[Symbol.asyncDispose]();
});

/** The tasks of the conversation on the page, with the answers of those that have ended. */
const tasks = (): Locator => shown.page.getByRole("region", { name: "One task of the conversation" });
const ended = (index: number): Promise<void> =>
  shown.page.locator('.chat-run[data-status="finished"]').nth(index).waitFor();
const pencils = (): Locator => shown.page.getByRole("button", { name: "Edit and resend" });

async function send(words: string): Promise<void> {
  await shown.page.getByLabel("Message", { exact: true }).fill(words);
  await shown.page.getByLabel("Message", { exact: true }).press("Enter");
}

test("a message is edited by the keyboard and sent again: what was before it stays, and the old version can be reached", async () => {
  const { page } = shown;
  await shown.open("/chat");
  await send("how much disk is free?");
  await page.waitForURL(/\/chat\/.+/);
  const old = page.url();
  await ended(0);
  await send("how much memory is free?");
  await ended(1);
  await pencils().nth(1).focus();
  await page.keyboard.press("Enter");
  const form = page.getByRole("form", { name: "Edit and resend" });
  const field = form.getByLabel("Message");
  assert.equal(await field.inputValue(), "how much memory is free?");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("something else");
  assert.equal(await field.inputValue(), "how much memory is free?\nsomething else");
  await shown.assertAccessible();
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await tasks().nth(1).locator("button:focus").waitFor();
  await page.keyboard.press("Enter");
  await field.fill('run "echo edited"');
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname.startsWith("/chat/") && url.href !== old);
  await tasks().nth(1).locator(".said.me").getByText("echo edited").waitFor();
  assert.match((await tasks().nth(0).textContent()) ?? "", /how much disk is free\?/);
  assert.equal(await tasks().count(), 2);
  const editions = page.getByRole("navigation", { name: "Versions of this message" });
  await editions.getByText("2 of 2").waitFor();
  await shown.assertAccessible();
  await editions.getByRole("link", { name: "Version before" }).click();
  await page.waitForURL(old);
  await tasks().nth(1).locator(".said.me").getByText("how much memory is free?").waitFor();
  await editions.getByText("1 of 2").waitFor();
  await editions.getByRole("link", { name: "Next version" }).click();
  await tasks().nth(1).locator(".said.me").getByText("echo edited").waitFor();
});

test("a conversation goes on behind an edited message, and knows what was said before it", async () => {
  const { page } = shown;
  const branch = page.url();
  await ended(1);
  await send("how much disk is free?");
  await ended(2);
  assert.equal(page.url(), branch);
  const headers = { accept: "application/x-ndjson" };
  const { runs } = (await (await page.request.get(`${daemon.url}/v1/runs?limit=1`)).json()) as {
    runs: { id: string }[];
  };
  const journal = await page.request.get(`${daemon.url}/v1/runs/${runs[0]?.id}/events?live=false`, { headers });
  const [started = ""] = (await journal.text()).split("\n");
  const { event } = JSON.parse(started) as { event: { history: { role: string; text: string }[] } };
  const asked = event.history.filter(({ role }) => role === "user").map(({ text }) => text);
  assert.deepEqual(asked, ["how much disk is free?", 'run "echo edited"']);
});

test("an open run is stopped before its message is sent again, and a run on its own page leads to the new run", async () => {
  const { page } = shown;
  const run = await shown.startRun('run "echo one >> kept.txt"');
  await pencils().click();
  const form = page.getByRole("form", { name: "Edit and resend" });
  await form.getByLabel("Message").fill('run "echo two >> kept.txt"');
  await form.getByRole("button", { name: "Stop and resend" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/runs/run_") && !url.pathname.endsWith(run));
  await page.getByRole("button", { name: "Yes, once" }).click();
  await page.locator(".chips .state.ok").getByText("done").waitFor();
  assert.equal(readFileSync(join(stage.workspace, "kept.txt"), "utf8"), "two\n");
  await page.getByRole("link", { name: /^Forked from the run/ }).click();
  await page.waitForURL(new RegExp(run));
  await page.locator(".chips .state").getByText("stopped").waitFor();
});

test("an answer is tried again as another version of the same message", async () => {
  const { page } = shown;
  await shown.open("/chat");
  await send("how much memory is free?");
  await page.waitForURL(/\/chat\/.+/);
  const first = page.url();
  await ended(0);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/chat/") && url.href !== first);
  await ended(0);
  await page.getByRole("navigation", { name: "Versions of this message" }).getByText("2 of 2").waitFor();
  assert.equal(await tasks().count(), 1);
  assert.deepEqual(shown.troubles, []);
});

test("versions of versions belong to one message, and a fork further on is none", () => {
  const run = (id: string, startedAt: number, forked?: Edition["forked"]): Edition => ({
    id,
    thread: `thread-${id}`,
    startedAt,
    ...(forked === undefined ? {} : { forked }),
  });
  const editions = editionsIn([
    run("d", 4, { run: "a", seq: 9 }),
    run("c", 3, { run: "b", seq: 1 }),
    run("b", 2, { run: "a", seq: 1 }),
    run("a", 1),
    run("e", 5, { run: "gone", seq: 1 }),
  ]);
  assert.deepEqual([...editions.keys()].sort(), ["a", "b", "c"]);
  assert.deepEqual(
    editions.get("b")?.map(({ id }) => id),
    ["a", "b", "c"],
  );
});
