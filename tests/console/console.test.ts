import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { textIn } from "@vidro/core";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import type { RunningDaemon } from "../../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { ConsolePage, openBrowser, readJournal, readQr } from "../support/console-browser.ts";

/* The console in a real browser, served by a real daemon with its own hand. The tests share both and run in order. */

let stage: Stage;
let daemon: RunningDaemon;
let browser: Browser;
let shown: ConsolePage;
let link: string;

before(async () => {
  stage = await Stage.set({ VIDRO_ANSWER_LINKS: "1" });
  mkdirSync(stage.home, { mode: 0o700 });
  writeFileSync(join(stage.home, "config.json"), JSON.stringify({ southbound_port: 0 }));
  browser = await openBrowser();
  daemon = await up(stage);
  ({ shown, link } = await ConsolePage.signIn(browser, stage, daemon));
});

after(async () => {
  await browser.close();
  await daemon.kill();
  await stage[Symbol.asyncDispose]();
});

/** Starts a task from Home; resolves to its run when its page is shown. */
async function start(page: Page, task: string): Promise<string> {
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByLabel("What should be done?").fill(task);
  await page.getByRole("button", { name: "Run" }).click();
  await page.waitForURL(/\/runs\/run_/);
  return new URL(page.url()).pathname.split("/")[2] ?? "";
}

test("a sign-in link leaves the address, counts once, and the page says what to do the second time", async () => {
  assert.equal(shown.page.url(), `${daemon.url}/`);
  await shown.page.getByRole("button", { name: "What is in this folder?" }).click();
  assert.equal(await shown.page.getByLabel("What should be done?").inputValue(), "What is in this folder?");
  const [cookie, ...others] = await shown.page.context().cookies();
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, others], [true, "Strict", []]);
  const context = await browser.newContext();
  const other = await context.newPage();
  await other.goto(link);
  await other.getByText(/was used already or has expired: `vidro console` prints a new one/).waitFor();
  await other.getByLabel("Or a token").fill(daemon.token);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByLabel("What should be done?").waitFor();
  await context.close();
});

test("a run is started, watched and approved on a screen of 390 pixels, and its three views are one journal", async () => {
  const { page } = shown;
  await page.setViewportSize({ width: 390, height: 844 });
  const run = await start(page, 'run "echo one >> effects.txt" and "wc -l effects.txt"');
  await page.getByRole("link", { name: "Waiting for you" }).click();
  const card = page.getByRole("region", { name: "A question for you" });
  await card.getByText("echo one >> effects.txt", { exact: true }).waitFor();
  const yes = await card.getByRole("button", { name: "Yes, once" }).boundingBox();
  assert.ok((yes?.height ?? 0) >= 44 && (yes?.width ?? 0) >= 300, "the button is as large as a thumb");
  assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
  await shown.assertAccessible();
  await card.getByRole("button", { name: "Yes, once" }).click();
  await page.getByText("Nothing waits for you.").waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await shown.open(`/runs/${run}`);
  await page.locator(".chips .state.ok").getByText("done").waitFor();
  assert.equal(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), "one\n");
  const marks = await page
    .getByRole("list", { name: "Plan" })
    .locator("li")
    .evaluateAll((all) => all.map((li) => li.className));
  assert.deepEqual(marks, ["done", "done"]);
  await shown.assertAccessible();
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.getByText(/Where the time went: .*person \d+ %/).waitFor();
  await shown.assertAccessible();
  await page.getByRole("link", { name: "Journal" }).click();
  const rows = await page
    .locator(".entry-head")
    .evaluateAll((all) =>
      all.map((row) => `${row.querySelector(".seq")?.textContent} ${row.querySelector("b")?.textContent}`),
    );
  assert.deepEqual(rows, await readJournal(daemon, run));
  await shown.assertAccessible();
});

test("a plan is shown whole, and of two questions a key answers the one that has the focus", async () => {
  const { page } = shown;
  const long = `${"x".repeat(2600)}-and-its-end`;
  await start(page, `run "echo ${long} >> first.txt"`);
  await start(page, 'run "echo two >> second.txt"');
  await page.getByRole("link", { name: "Waiting for you" }).click();
  const cards = page.getByRole("region", { name: "A question for you" });
  const first = cards.filter({ hasText: "first.txt" });
  await first.getByText(`echo ${long} >> first.txt`, { exact: true }).waitFor();
  const second = cards.filter({ hasText: "second.txt" });
  await second.waitFor();
  await page.locator("h1").click();
  await page.keyboard.press("y");
  await second.getByRole("button", { name: "Yes, for this run" }).focus();
  await page.keyboard.press("y");
  await second.waitFor({ state: "detached" });
  assert.equal(await first.getByRole("button", { name: "Yes, once" }).isEnabled(), true);
  await page.keyboard.press("n");
  await page.getByText("Nothing waits for you.").waitFor();
  assert.equal(existsSync(join(stage.workspace, "first.txt")), false);
});

test("003-18 tools of a conversation are switched off and on between two messages", async () => {
  const { page } = shown;
  await page.keyboard.press("c");
  const send = async (words: string): Promise<void> => {
    await page.getByLabel("Message").fill(words);
    await page.getByRole("button", { name: "Send", exact: true }).click();
  };
  const tools = page.getByRole("group", { name: /Tools of this conversation/ });
  await tools.locator("summary").click();
  await tools.getByText("command", { exact: true }).waitFor();
  const names = await tools.getByRole("switch").evaluateAll((all) => all.map((one) => one.parentElement?.textContent));
  assert.ok(names.includes("command") && names.includes("shell"), names.join());
  for (const name of names) await tools.getByText(name ?? "", { exact: true }).click();
  await tools.getByText(new RegExp(`0 of ${names.length} on`)).waitFor();
  await send("how much disk is free?");
  await page.waitForURL(/\/chat\/.+/);
  const tasks = page.getByRole("region", { name: "One task of the conversation" });
  await page.locator('.chat-run[data-status="finished"]').first().waitFor();
  assert.equal(
    await tasks
      .first()
      .getByRole("region", { name: /^Action/ })
      .count(),
    0,
  );
  await shown.assertAccessible();
  await tools.getByText(new RegExp(`0 of ${names.length} on`)).waitFor();
  await tools.locator("summary").click();
  for (const name of names) await tools.getByText(name ?? "", { exact: true }).click();
  await send("how much disk is free?");
  await tasks
    .nth(1)
    .getByRole("region", { name: /^Action: df/ })
    .waitFor();
  await page.locator('.chat-run[data-status="finished"]').nth(1).waitFor();
});

test("003-17 agents are listed and can be talked to", async () => {
  const { page } = shown;
  await shown.open("/agents");
  const cards = page.locator("main section.card");
  await cards.first().getByText("bunny", { exact: true }).waitFor();
  const listed = (await (
    await fetch(`${daemon.url}/v1/agents`, { headers: { authorization: `Bearer ${daemon.token}` } })
  ).json()) as readonly { readonly name: string }[];
  assert.deepEqual(
    await cards.locator("header b").allTextContents(),
    listed.map(({ name }) => name),
  );
  await shown.assertAccessible();
  await cards.first().getByRole("link", { name: "Talk" }).click();
  await page.getByLabel("Message").waitFor();
});

test("a run is watched while the brain is killed and started again: a banner, and nothing is missing", async () => {
  const { page } = shown;
  const run = await start(page, 'run "echo two >> effects.txt"');
  await page.getByRole("button", { name: "Yes, once" }).waitFor();
  await page.evaluate("window.isSame = true");
  await daemon.kill();
  await page.getByText("Reconnecting to the brain… nothing is lost").waitFor();
  daemon = await up(stage, daemon.port);
  await page.getByText("Reconnecting to the brain…").waitFor({ state: "detached" });
  await page.keyboard.press("y");
  await page.locator(".chips .state.ok").getByText("done").waitFor();
  assert.equal(await page.evaluate("window.isSame"), true, "the page was not loaded again");
  await page.getByRole("link", { name: "Journal" }).click();
  const rows = await page.locator(".entry-head .seq").allTextContents();
  assert.deepEqual(
    rows,
    (await readJournal(daemon, run)).map((line) => line.split(" ")[0]),
  );
  assert.equal(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), "one\ntwo\n");
});

test("a question is refused with a reason, which the run is told", async () => {
  const { page } = shown;
  const run = await start(page, 'run "echo three >> effects.txt"');
  await page.getByRole("button", { name: "No, because…" }).click();
  await page.getByLabel("No, because").fill("not today");
  await page.getByRole("button", { name: "No", exact: true }).click();
  await page.getByText("not today").first().waitFor();
  await page.locator(".said.result").waitFor();
  const asked = (await readJournal(daemon, run)).filter((line) => line.endsWith(" action.started"));
  assert.deepEqual(asked, []);
  assert.equal(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), "one\ntwo\n");
});

test("a plan is changed before its yes, a yes counts for the whole run, and a remark is told to the run", async () => {
  const { page } = shown;
  const run = await start(
    page,
    'run "echo four >> effects.txt" and "echo five >> effects.txt" and "echo five >> effects.txt"',
  );
  await page.getByLabel("Say something while it works").fill("five is enough");
  await page.getByRole("button", { name: "Say", exact: true }).click();
  await page.locator(".said.me").getByText("five is enough").waitFor();
  await page.getByRole("button", { name: "Change it…" }).click();
  await page.getByLabel("command").fill("echo 4 >> effects.txt");
  await shown.assertAccessible();
  await page.getByRole("button", { name: "Yes, with this change" }).click();
  await page.getByText("yes, changed").waitFor();
  await page.getByRole("button", { name: "Yes, for this run" }).click();
  await page.locator(".chips .state.ok").getByText("done").waitFor();
  assert.equal(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), "one\ntwo\n4\nfive\nfive\n");
  const said = (await readJournal(daemon, run)).filter((line) => /remark.made|question.answered/.test(line));
  assert.equal(said.length, 3, "one remark, and one answer for each of the two different plans");
});

test("an always shows its rule and the past actions before it is said, and adds it", async () => {
  const { page } = shown;
  await start(page, 'run "echo seven >> effects.txt" and "echo seven >> effects.txt"');
  await page.getByRole("button", { name: "Always…" }).click();
  await page.getByText(/would have been allowed by it/).waitFor();
  await page.locator(".always pre").getByText("echo seven >> effects.txt").waitFor();
  await shown.assertAccessible();
  await page.getByRole("button", { name: "Yes, always" }).click();
  await page.locator(".chips .state.ok").getByText("done").waitFor();
  const { stdout } = await stage.run("policy", "show");
  assert.match(stdout, /always-echo-seven/);
});

test("a run is forked from an event of its journal, and nothing that was done is done again", async () => {
  const { page } = shown;
  const effects = readFileSync(join(stage.workspace, "effects.txt"), "utf8");
  const first = new URL(page.url()).pathname;
  await page.getByRole("link", { name: "Journal" }).click();
  await page.locator(".entry-head").first().click();
  await page.getByRole("button", { name: "Fork from here" }).click();
  await page.getByLabel("What the fork is told").fill("how much memory is free?");
  await page.getByRole("button", { name: "Start the fork" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/runs/run_") && url.pathname !== first);
  await page
    .locator(".said.result")
    .getByText(/memory/)
    .waitFor();
  assert.equal(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), effects);
});

test("M-09 one question is answered once by a link on a phone that is not signed in", async () => {
  const { page } = shown;
  await start(page, 'run "echo six >> effects.txt"');
  await page.getByRole("button", { name: "Answer on a phone…" }).click();
  const path = (await page.locator(".phone-link .command").textContent()) ?? "";
  const picture = page.getByRole("img", { name: "The link as a code for a camera" });
  assert.equal(await readQr(await picture.screenshot({ type: "png" }), page), path, "a camera reads the link");
  const phone = await ConsolePage.open(browser, path, { width: 390, height: 844 });
  await phone.page.getByText("echo six >> effects.txt", { exact: true }).waitFor();
  assert.equal(await phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
  await phone.assertAccessible();
  await phone.page.getByRole("button", { name: "Yes, once" }).click();
  await phone.page.getByText("You said yes.").waitFor();
  await page.getByText("local by a link answered").waitFor();
  await page.locator(".chips .state.ok").getByText("done").waitFor();
  assert.match(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), /six\n$/);
  assert.deepEqual(phone.troubles, []);
  await phone.page.reload();
  await phone.page.getByText(/was used already or has expired/).waitFor();
  await phone.page.context().close();
});

test("a host joins by the line that the wizard shows, and the page says so", async () => {
  const { page } = shown;
  await shown.open("/hands");
  await page.getByRole("button", { name: "Add a host" }).click();
  await page.getByLabel("Name").fill("web-1");
  await page.getByLabel("Tags").fill("web");
  await page.getByLabel("Vidro is installed there already").check();
  await page.getByRole("button", { name: "Make the command" }).click();
  const line = (await page.locator("pre.command").textContent()) ?? "";
  await shown.assertAccessible();
  const home = join(stage.workspace, "web-1");
  const path = `${dirname(bundledCommands().launcher)}:${process.env["PATH"]}`;
  const env = { PATH: path, HOME: home, VIDRO_HOME: join(home, "state"), VIDRO_HAND_HOME: join(home, "hand") };
  mkdirSync(home);
  const host = spawn("/bin/sh", ["-c", `exec env ${line}`], { cwd: home, env, stdio: "ignore" });
  try {
    await page.getByText("web-1 connected").waitFor();
    await page.getByRole("region", { name: "web-1" }).getByText("ok", { exact: true }).waitFor();
    await page.getByRole("button", { name: "web 1" }).click();
    await page.getByRole("region", { name: "local" }).waitFor({ state: "detached" });
    await shown.assertAccessible();
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByLabel("Hand", { exact: true }).selectOption({ label: "web-1" });
    await page.getByLabel("What should be done?").fill("how much memory is free?");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".chips").getByText(/^on /).waitFor();
    assert.doesNotMatch((await page.locator(".chips").first().textContent()) ?? "", /on local/);
  } finally {
    host.kill("SIGKILL");
    await once(host, "exit");
  }
  const { hands } = (await (await page.request.get(`${daemon.url}/v1/hands`)).json()) as {
    hands: { id: string; name: string }[];
  };
  const id = hands.find(({ name }) => name === "web-1")?.id ?? "";
  const run = textIn(await shown.post("/v1/runs", { task: "how much memory is free?", hand: id }), "id");
  await shown.open(`/runs/${run}`);
  await page.locator(".chips").getByRole("link", { name: "web-1" }).waitFor();
  await page.getByText("web-1 is away; the run goes on when it is back.").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".chips .state").getByText("stopped").waitFor();
});

test("all files of the console together are at most 200 KB for a browser", async () => {
  const folder = resolve(import.meta.dirname, "../../packages/console/dist/assets");
  const sizes = readdirSync(folder).map((name) => gzipSync(readFileSync(join(folder, name))).length);
  const whole = sizes.reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(sizes.length > 10 && whole <= 200_000, `${whole} bytes in ${sizes.length} files`);
});

test("every page is accessible, has a title, and no page had an error or a request to another origin", async () => {
  const places = ["waiting", "hands", "settings", "chat", "agents", "policy", "knowledge"].map((name) => `/${name}`);
  for (const path of ["/docs", "/docs/tutorial", "/", "/runs", ...places]) {
    await shown.open(path);
    for (const width of [390, 1280]) {
      await shown.page.setViewportSize({ width, height: 800 });
      await shown.assertAccessible();
    }
    assert.match(await shown.page.title(), / · Vidro$/);
  }
  assert.deepEqual(shown.troubles, []);
});

test("what models, files and people wrote is text on every page: no markup, no hidden or turning character", async () => {
  const { page } = shown;
  const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>\u001b[31mred\u202eturned\u200bhidden`;
  writeFileSync(join(stage.workspace, "hostile.txt"), `${hostile}\n${"x".repeat(1_000_000)}\n`);
  await shown.post("/v1/agents", {
    name: `h ${hostile.slice(0, 60)}`,
    description: hostile,
    prompt: `${hostile}\n${hostile}`,
  });
  await shown.post("/v1/knowledge", {
    title: hostile,
    tags: [hostile.slice(0, 40)],
    snippet: `${hostile}\n${hostile}`,
  });
  await shown.post("/v1/tokens", { owner: hostile.slice(0, 100), scopes: ["runs"] });
  const run = await start(page, `run "cat hostile.txt" and "echo ${hostile.replaceAll('"', "'")}"`);
  await page.locator("main h1").getByText("onerror").waitFor();
  await shown.open(`/runs/${run}`);
  await page.locator(".card").first().waitFor();
  await shown.post(`/v1/runs/${run}/messages`, { text: hostile });
  await page.locator(".said.me").nth(1).getByText("onerror").waitFor();
  for (const path of [
    `/runs/${run}`,
    `/runs/${run}?view=timeline`,
    `/runs/${run}?view=journal`,
    "/runs",
    "/waiting",
    "/",
    "/chat",
    "/agents",
    "/knowledge",
    "/settings",
  ]) {
    await shown.open(path);
    await page
      .getByText(/onerror|cat hostile/)
      .filter({ visible: true })
      .first()
      .waitFor();
    const text = (await page.locator("body").textContent()) ?? "";
    for (const unseen of ["\u001b", "\u202e", "\u200b"]) assert.ok(!text.includes(unseen), path);
    assert.equal(await page.locator("main img, main script").count(), 0, path);
    for (const width of [390, 820, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual(await shown.overflows(), [], `${path} ${width}`);
    }
    assert.doesNotMatch(await page.title(), /^owned/);
  }
  assert.deepEqual(shown.troubles, []);
});
