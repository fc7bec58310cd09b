import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { FAULTS } from "@vidro/core";
import { FAULT_WORDS } from "@vidro/core/fault-words";
import { approvalAsked, reasonWords } from "@vidro/core/text";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import type { RunningDaemon } from "../../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { ConsolePage, openBrowser } from "../support/console-browser.ts";
import { FAILING_TASK, storyModel } from "../support/console-story.ts";
import type { FakeOpenAi } from "../support/fake-openai.ts";

/* What went wrong and why something is asked, in the language of the page. The tests share a daemon. */

let stage: Stage;
let model: FakeOpenAi;
let daemon: RunningDaemon;
let browser: Browser;
let shown: ConsolePage;
const runs = { denied: "", failed: "", asking: "" };

before(async () => {
  model = await storyModel();
  stage = await Stage.set({ VIDRO_MODEL: "story", VIDRO_MODEL_URL: model.url, OPENAI_API_KEY: "story" });
  browser = await openBrowser();
  daemon = await up(stage);
  ({ shown } = await ConsolePage.signIn(browser, stage, daemon));
  runs.failed = await shown.startRun(FAILING_TASK);
  runs.denied = await shown.startRun('run "mkfs.ext4 /dev/sda"', "offline");
  runs.asking = await shown.startRun('run "rm -rf build"', "offline");
});

after(async () => {
  await model.close();
  await browser.close();
  await daemon.kill();
  await stage[Symbol.asyncDispose]();
});

/** Opens a page in another language, in the same session. */
async function speaking(locale: string): Promise<Page> {
  const { stdout } = await stage.run("console");
  const context = await browser.newContext({ locale, viewport: { width: 390, height: 800 } });
  const page = await context.newPage();
  await page.goto(stdout.trim());
  await page.locator("main").waitFor();
  return page;
}

test("in English a failed run shows its own words and what to do next", async () => {
  const { page } = shown;
  await shown.open(`/runs/${runs.failed}`);
  await page.locator(".card.end").getByText("The model refuses this request").waitFor();
  await page.locator(".card.end").getByText(FAULTS.MODEL_REFUSED.next).waitFor();
  await shown.assertAccessible();
});

for (const [language, locale] of [
  ["pt", "pt-BR"],
  ["es", "es"],
] as const)
  test(`a page in ${locale} says in its language what failed, why it was denied and why it asks, with the English words below`, async () => {
    const page = await speaking(locale);
    const words = FAULT_WORDS[language];
    await page.goto(`${daemon.url}/runs/${runs.failed}`);
    const [refused, next] = words.MODEL_REFUSED;
    const end = page.locator(".card.end");
    await end.getByText(refused).waitFor();
    await end.getByText(next).waitFor();
    await end.getByText("The model refuses this request").waitFor();
    await page.goto(`${daemon.url}/runs/${runs.denied}`);
    const card = page.locator("section.card").first();
    await card.getByText(words.POLICY_DENIED[0]).waitFor();
    await card.getByText(reasonWords("it would erase a disk", language)).waitFor();
    await page.goto(`${daemon.url}/runs/${runs.asking}`);
    await page.getByText(approvalAsked(language)).waitFor();
    await page.getByText(reasonWords("what it removes does not come back", language)).waitFor();
    await page.goto(`${daemon.url}/runs/run_00000000-0000-7000-8000-000000000000`);
    const gone = page.locator("p.fault");
    await gone.getByText(words.NOT_FOUND[0]).waitFor();
    assert.match((await gone.textContent()) ?? "", /There is no run/);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    await page.context().close();
  });
