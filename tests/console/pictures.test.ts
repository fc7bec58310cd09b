import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import type { RunningDaemon } from "../../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { ConsolePage, openBrowser } from "../support/console-browser.ts";
import {
  AUDIT_TASK,
  FAILING_TASK,
  HELPER_TASKS,
  LOG_TASK,
  RELOAD_TASK,
  SHOP_TASK,
  STORY_WORDS,
  storyFiles,
  storyModel,
} from "../support/console-story.ts";
import type { FakeOpenAi } from "../support/fake-openai.ts";

/* The pages of the console with a story on them, in both themes and three widths. `npm run pictures` keeps those of the README. */

/** Where the pictures are written. */
const FOLDER = resolve(import.meta.dirname, "../../.cache/pictures");
const WIDTHS = [390, 820, 1280];
const HEIGHT = 900;

let stage: Stage;
let model: FakeOpenAi;
let daemon: RunningDaemon;
let browser: Browser;
let shown: ConsolePage;
const runs = new Map<string, string>();

before(async () => {
  mkdirSync(FOLDER, { recursive: true });
  model = await storyModel();
  stage = await Stage.set({ VIDRO_MODEL: "story", VIDRO_MODEL_URL: model.url, OPENAI_API_KEY: "story" });
  storyFiles(stage.workspace);
  browser = await openBrowser();
  daemon = await up(stage);
  ({ shown } = await ConsolePage.signIn(browser, stage, daemon));
  await shown.post("/v1/knowledge", {
    title: "Reloading nginx takes 20 ms",
    tags: ["nginx"],
    snippet: "measured on web-1",
  });
  for (const task of [LOG_TASK, FAILING_TASK, RELOAD_TASK, AUDIT_TASK, SHOP_TASK])
    runs.set(task, await shown.startRun(task));
});

after(async () => {
  await model.close();
  await browser.close();
  await daemon.kill();
  await stage[Symbol.asyncDispose]();
});

/** What each page shows when it is whole. */
function pages(): readonly (readonly [name: string, path: string, words: RegExp])[] {
  const [shop, log, failed, audit] = [SHOP_TASK, LOG_TASK, FAILING_TASK, AUDIT_TASK].map(
    (task) => `/runs/${runs.get(task)}`,
  );
  return [
    ["home", "/", /waits? for you|Waiting for you/],
    ["runs", "/runs", /Rotate the certificates/],
    ["run", shop ?? "", /May this be done\?/],
    ["timeline", `${log}?view=timeline`, /Where the time went/],
    ["journal", `${shop}?view=journal`, /question\.asked/],
    ["failed", failed ?? "", /The run failed/],
    ["helpers", audit ?? "", /2 runs/],
    ["waiting", "/waiting", /echo reloaded/],
    ["hands", "/hands", /1 of 1 connected/],
    ["chat", "/chat", /Tools of this conversation/],
    ["agents", "/agents", /bunny/],
    ["policy", "/policy", /Would this run/],
    ["knowledge", "/knowledge", /Reloading nginx/],
    ["settings", "/settings", /sqlite/],
  ];
}

test("every page fits 390, 820 and 1280 pixels in both themes, and nothing is wrong on its way", async () => {
  const { page } = shown;
  await page.locator("main").waitFor();
  for (const [name, path, words] of pages()) {
    await shown.open(path);
    await page.getByText(words).filter({ visible: true }).first().waitFor();
    for (const width of WIDTHS)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: HEIGHT });
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await shown.overflows(), [], `${name} ${width}`);
        const picture = await page.screenshot({ animations: "disabled" });
        writeFileSync(join(FOLDER, `${name}-${width}-${colorScheme}.png`), picture);
      }
  }
  assert.deepEqual(shown.troubles, []);
});

test("a model behind a socket, its plan, its words and its change of a file are on the page of the run", async () => {
  const { page } = shown;
  await page.setViewportSize({ width: 1280, height: HEIGHT });
  await shown.open("/waiting");
  await page.locator(".questions").getByText(STORY_WORDS).waitFor();
  await shown.open(`/runs/${runs.get(SHOP_TASK)}`);
  await page.getByText(STORY_WORDS).waitFor();
  const steps = page.getByRole("list", { name: "Plan" }).locator("li");
  assert.deepEqual(await steps.evaluateAll((all) => all.map((one) => one.className)), ["done", "done", "now", "later"]);
  await page.getByRole("button", { name: "Yes, once" }).click();
  await page.locator(".said.result").getByText("The shop had moved to port 8081").waitFor();
});

test("Home tells what models used by day, as the brain has summed it up", async () => {
  const { page } = shown;
  const { usage } = (await (await page.request.get(`${daemon.url}/v1/usage?by=day`)).json()) as {
    usage: { inputTokens: number; outputTokens: number }[];
  };
  const tokens = usage.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  assert.ok(tokens > 0);
  await shown.open("/");
  const tile = page.getByRole("region", { name: "Spent this week" });
  await tile
    .getByText(`${tokens.toLocaleString("en")} tokens`)
    .first()
    .waitFor();
  assert.equal(await tile.locator("tbody tr").count(), 7);
  await shown.assertAccessible();
});

test("a run shows its helpers, and a helper leads back to the run", async () => {
  const { page } = shown;
  await shown.open(`/runs/${runs.get(AUDIT_TASK)}`);
  const helpers = page.getByRole("region", { name: "Helpers" });
  for (const task of HELPER_TASKS) await helpers.locator("li").filter({ hasText: task }).getByText("done").waitFor();
  await shown.assertAccessible();
  await helpers.getByRole("link", { name: HELPER_TASKS[0] ?? "" }).click();
  await page.getByText("41 errors.").waitFor();
  await page.getByRole("link", { name: "It helps the run" }).click();
  await page.waitForURL(new RegExp(`/runs/${runs.get(AUDIT_TASK)}#seq=`));
  await shown.open("/chat");
  await page.locator(".chat-item").getByText(AUDIT_TASK).waitFor();
  assert.equal(
    await page
      .locator(".chat-item")
      .getByText(HELPER_TASKS[0] ?? "")
      .count(),
    0,
  );
});

test("the list of runs tells what each took, and the tile of a hand which runs are on it", async () => {
  const { page } = shown;
  const { usage } = (await (await page.request.get(`${daemon.url}/v1/usage?by=thread`)).json()) as {
    usage: { key: string; steps: number; inputTokens: number; outputTokens: number }[];
  };
  const { thread } = (await (await page.request.get(`${daemon.url}/v1/runs/${runs.get(LOG_TASK)}`)).json()) as {
    thread: string;
  };
  const spent = usage.find(({ key }) => key === thread);
  assert.ok(spent !== undefined && spent.steps === 2);
  const tokens = (spent.inputTokens + spent.outputTokens).toLocaleString("en");
  await shown.open("/runs");
  const row = page.locator(".run-row").filter({ hasText: LOG_TASK });
  await row.getByText(`2 steps · ${tokens} tokens`).waitFor();
  await shown.assertAccessible();
  await shown.open("/hands");
  const tile = page.getByRole("region", { name: "local" });
  await tile.getByText("1 run on it now").waitFor();
  await tile.getByRole("link", { name: RELOAD_TASK }).click();
  await page.waitForURL(`${daemon.url}/runs/${runs.get(RELOAD_TASK)}`);
});

/** A picture of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("an image is attached to a message, can be left out again, and is in the journal of its run", async () => {
  const { page } = shown;
  await shown.open("/chat");
  const picture = { name: "screen.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") };
  await page.getByLabel("Image").setInputFiles([picture, { ...picture, name: "other.png" }]);
  await page.getByRole("button", { name: "other.png" }).click();
  await shown.assertAccessible();
  await page.getByLabel("Message").fill("What is on this screen?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.waitForURL(/\/chat\/.+/);
  await page.locator(".said.me").getByText("screen.png").waitFor();
  const { runs: all } = (await (await page.request.get(`${daemon.url}/v1/runs?limit=1`)).json()) as {
    runs: { id: string }[];
  };
  const events = await page.request.get(`${daemon.url}/v1/runs/${all[0]?.id}/events?live=false`, {
    headers: { accept: "application/x-ndjson" },
  });
  const text = await events.text();
  assert.ok(text.includes(PIXEL) && text.includes("screen.png") && !text.includes("other.png"));
});
