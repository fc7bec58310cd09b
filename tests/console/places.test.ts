import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { isObject, textIn } from "@vidro/core";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import type { RunningDaemon } from "../../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { ConsolePage, openBrowser } from "../support/console-browser.ts";

/* The pages of agents, hands, the policy and the settings in a real browser, served by a real daemon with its own hand. */

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

const DENY_DATE = {
  extends: "shipped",
  rules: [
    {
      kind: "process",
      id: "no-date",
      class: "read",
      decision: "deny",
      reason: "clocks are private",
      program: ["date"],
      arguments: "any",
      examples: { match: [["date"]], not_match: [] },
    },
  ],
};

test("the policy page shows the rules with their examples, and says whether an action would run, by which rule and why", async () => {
  const { page } = shown;
  await shown.open("/policy");
  const rules = page.locator(".rules > li");
  await rules.first().waitFor();
  assert.ok((await rules.count()) > 20);
  await page.getByLabel("Filter").fill("git");
  await rules.first().locator(".rule-head").click();
  await rules.first().locator(".examples li").first().waitFor();
  await page.getByLabel("Filter").fill("no such rule at all");
  await page.getByText("No rule has these words.").waitFor();
  await page.getByLabel("Filter").fill("");
  const tester = page.getByRole("region", { name: "Would this run?" });
  const ask = async (line: string): Promise<void> => {
    await tester.getByLabel("What would be done").fill(line);
    await tester.getByRole("button", { name: "Ask the policy" }).click();
  };
  await ask("date --iso-8601");
  await tester.locator(".verdict .state.ok").getByText("allowed").waitFor();
  await ask('touch "a file"');
  await tester.locator(".verdict .state.asking").getByText("asks").waitFor();
  await tester.getByText("touch 'a file'").waitFor();
  await tester.getByLabel("What is asked about").selectOption({ label: "writing a file" });
  await ask("notes.txt");
  await tester
    .locator(".verdict dd")
    .getByText(/^write .*notes\.txt/)
    .waitFor();
  await tester.getByLabel("What is asked about").selectOption({ label: "a command" });
  await ask("rm -rf /");
  await tester.locator(".verdict .state.bad").getByText("denied").waitFor();
  assert.equal(existsSync(join(stage.workspace, "a file")), false);
  await shown.assertAccessible();
});

test("a changed policy is tried on an action and on past runs, its examples are tried, and then it is saved and counts", async () => {
  const { page } = shown;
  await shown.startRun('run "date" and "uptime"');
  await shown.open("/policy");
  await page.getByRole("button", { name: "Change the policy" }).click();
  const editor = page.getByRole("region", { name: "Change the policy" });
  const draft = editor.getByLabel("The policy as its file has it");
  assert.deepEqual(JSON.parse(await draft.inputValue()), { extends: "shipped", rules: [] });
  await draft.fill("{ no JSON");
  await editor.getByRole("button", { name: "Try its examples", exact: true }).click();
  await editor.locator(".fault").waitFor();
  const [rule] = DENY_DATE.rules;
  const wrong = { ...DENY_DATE, rules: [{ ...rule, examples: { match: [["uptime"]], not_match: [] } }] };
  await draft.fill(JSON.stringify(wrong));
  await editor.getByRole("button", { name: "Try its examples and save" }).click();
  await editor.locator(".fault").getByText("no-date").waitFor();
  assert.equal(existsSync(join(stage.home, "policy.json")), false);
  await draft.fill(JSON.stringify(DENY_DATE));
  await editor.getByRole("button", { name: "Try it on past runs" }).click();
  await editor.getByText("2 past actions tried, 1 would be decided otherwise. Nothing was run.").waitFor();
  await editor.locator(".past").getByRole("link", { name: "date" }).waitFor();
  await editor.getByLabel("What would be done").fill("date");
  await editor.getByRole("button", { name: "Ask the policy" }).click();
  await editor.locator(".verdict").getByText("clocks are private").waitFor();
  await shown.assertAccessible();
  await editor.getByRole("button", { name: "Try its examples and save" }).click();
  await editor.getByText("Saved. It counts from now on.").waitFor();
  await page.locator(".rules > li").first().getByText("no-date").waitFor();
  assert.deepEqual(JSON.parse(readFileSync(join(stage.home, "policy.json"), "utf8")), DENY_DATE);
  const run = await shown.startRun('run "date"');
  await shown.open(`/runs/${run}?view=journal`);
  await page.getByLabel("Filter").fill("no-date");
  await page.locator(".entry-head").getByText("policy.judged").waitFor();
});

test("an agent is made, changed, talked to and deleted on its page", async () => {
  const { page } = shown;
  await shown.open("/agents");
  await page.getByRole("button", { name: "New agent" }).click();
  const form = page.getByRole("form", { name: "New agent" });
  await form.getByLabel("Name").fill("clerk");
  await form.getByLabel("What it is for").fill("keeps lists");
  await form.getByLabel("Prompt").fill("You keep lists.");
  await form.getByRole("group", { name: "Tools of the agent" }).locator("summary").click();
  await form.getByText("shell", { exact: true }).click();
  await shown.assertAccessible();
  await form.getByRole("button", { name: "Save" }).click();
  const card = page.getByRole("region", { name: "clerk" });
  await card.getByText("keeps lists").waitFor();
  const stored = async (): Promise<{ readonly [name: string]: unknown } | undefined> => {
    const all = (await (await page.request.get(`${daemon.url}/v1/agents`)).json()) as unknown[];
    return all.filter(isObject).find(({ name }) => name === "clerk");
  };
  const made = await stored();
  assert.ok(Array.isArray(made?.["tools"]) && !made["tools"].includes("shell") && made["tools"].includes("command"));
  await card.getByRole("button", { name: "Change" }).click();
  await card.getByLabel("What it is for").fill("keeps other lists");
  await card.getByRole("button", { name: "Save" }).click();
  await card.getByText("keeps other lists").waitFor();
  assert.equal((await stored())?.["prompt"], "You keep lists.");
  await card.getByRole("link", { name: "Talk" }).click();
  await page.getByLabel("Message").waitFor();
  assert.match(page.url(), new RegExp(`agent=${String(made["uuid"])}`));
  await shown.open("/agents");
  await card.getByRole("button", { name: "Change" }).click();
  await card.getByRole("button", { name: "Delete", exact: true }).click();
  await card.getByRole("button", { name: "Delete for good?" }).click();
  await card.waitFor({ state: "detached" });
});

test("a command is run on a hand from its tile, and its run shows what came of it", async () => {
  const { page } = shown;
  await shown.open("/hands");
  const tile = page.getByRole("region", { name: "local" });
  await tile.getByRole("button", { name: "Run a command…" }).click();
  await tile.getByLabel("Command").fill('"unclosed');
  await tile.getByRole("button", { name: "Run", exact: true }).click();
  await tile.getByText("A quote is open.").waitFor();
  await tile.getByLabel("Command").fill('echo "two words"');
  await tile.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/run_/);
  await page.locator(".chips .state.ok").getByText("done").waitFor();
  await page.locator(".block pre").getByText("two words").first().waitFor();
});

test("a token is made in the settings, shown once, works, and is revoked; a model is tested", async () => {
  const { page } = shown;
  await shown.open("/settings");
  await page.getByLabel("Owner").fill("ana");
  await page.getByLabel("What it may do").selectOption({ label: "start and watch runs" });
  await page.getByRole("button", { name: "Make a token" }).click();
  const token = (await page.locator(".new-token pre").textContent()) ?? "";
  const status = async (): Promise<number> =>
    (await fetch(`${daemon.url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await status(), 200);
  const row = page.getByRole("region", { name: "Tokens" }).locator(".token-row").filter({ hasText: "ana" });
  await shown.assertAccessible();
  await row.getByRole("button", { name: "Revoke" }).click();
  await row.getByRole("button", { name: "Revoke for good?" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal(await status(), 401);
  const model = page.locator(".models li").filter({ hasText: "offline" });
  await model.getByRole("button", { name: "Test" }).click();
  await model.getByText(/ · /).waitFor();
  await page.locator(".rows").getByText("sqlite").waitFor();
  await shown.open("/settings");
  assert.equal(await page.getByText(token).count(), 0, "the secret is not shown again");
});

test("a person who is no administrator sees neither policy nor tokens", async () => {
  const token = textIn(await shown.post("/v1/tokens", { owner: "ben", scopes: ["runs"] }), "token") ?? "";
  const other = await ConsolePage.open(browser, `${daemon.url}/`, { width: 1280, height: 800 });
  await other.page.getByLabel("Or a token").fill(token);
  await other.page.getByRole("button", { name: "Sign in" }).click();
  await other.page.getByLabel("What should be done?").waitFor();
  await other.open("/policy");
  await other.page.getByText("Only an administrator sees the policy.").waitFor();
  await other.open("/settings");
  await other.page.getByText("Signed in as ben").waitFor();
  assert.equal(await other.page.getByRole("button", { name: "Make a token" }).count(), 0);
  await other.open("/hands");
  assert.equal(await other.page.getByRole("button", { name: "Add a host" }).count(), 0);
  assert.deepEqual(
    other.troubles.filter((said) => !/401/.test(said)),
    [],
  );
  await other.page.context().close();
});

test("knowledge is searched, verified and removed, and each entry names its source", async () => {
  const { page } = shown;
  await shown.open("/knowledge");
  await page.getByText("Nothing is kept yet.").waitFor();
  await shown.post("/v1/knowledge", { title: "The shop listens on 8081", tags: ["shop"], snippet: "since its update" });
  await shown.post("/v1/knowledge", { title: "Backups run at night" });
  await shown.open("/knowledge");
  const shop = page.getByRole("region", { name: "The shop listens on 8081" });
  await shop.getByText("said by a person").waitFor();
  await page.getByLabel("Search").fill("shops");
  await page.getByRole("region", { name: "Backups run at night" }).waitFor({ state: "detached" });
  await shop.getByRole("button", { name: "Verify" }).click();
  await shop.locator(".state.ok").getByText("verified").waitFor();
  await shown.assertAccessible();
  await shop.getByRole("button", { name: "Remove" }).click();
  await shop.getByRole("button", { name: "Remove for good?" }).click();
  await page.getByText("No entry matches.").waitFor();
  const { entries } = (await (await page.request.get(`${daemon.url}/v1/knowledge`)).json()) as { entries: unknown[] };
  assert.equal(entries.length, 1);
});

test("keys lead to every page, through lists and into the filter, and ? shows them", async () => {
  const { page } = shown;
  await shown.open("/");
  for (const [keys, path] of [
    ["gr", "/runs"],
    ["gh", "/hands"],
    ["gw", "/waiting"],
    ["ga", "/agents"],
    ["gp", "/policy"],
    ["gk", "/knowledge"],
    ["gs", "/settings"],
    ["go", "/"],
    ["c", "/chat"],
    ["gr", "/runs"],
  ] as const) {
    await page.keyboard.type(keys);
    await page.waitForURL(`${daemon.url}${path}`);
  }
  await page.locator(".list .item").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  const first = await page.locator(".list .item").first().getAttribute("href");
  assert.equal(await page.evaluate("document.activeElement.getAttribute('href')"), first);
  await page.keyboard.press("?");
  await page.getByRole("complementary", { name: "Keys" }).getByText("Next and previous link of a list").waitFor();
  await shown.assertAccessible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("go");
  assert.equal(await page.getByLabel("Filter").inputValue(), "go", "keys are letters for a person who types");
});

test("runs are chosen by state, agent and words, and an open one is stopped in the list", async () => {
  const { page } = shown;
  const agents = (await (await page.request.get(`${daemon.url}/v1/agents`)).json()) as { name: string; uuid: string }[];
  const scout = agents.find(({ name }) => name === "scout")?.uuid ?? "";
  await shown.post("/v1/runs", { task: "how much memory is free, scout?", agent: scout });
  const asking = await shown.startRun('run "echo stop >> me.txt"');
  await shown.open("/runs");
  const rows = page.locator(".list .item");
  await page.getByLabel("Agent").selectOption("scout");
  await page.getByText("1 run", { exact: true }).waitFor();
  await rows.getByText("how much memory is free, scout?").waitFor();
  await page.getByLabel("Agent").selectOption("");
  await page.getByLabel("State").selectOption({ label: "waits for you" });
  await page.getByLabel("Filter").fill("me.txt");
  await page.getByText("1 run", { exact: true }).waitFor();
  await shown.assertAccessible();
  await page.locator(".run-row").getByRole("button", { name: "Stop" }).click();
  await page.getByText("No run matches.").waitFor();
  await shown.open(`/runs/${asking}`);
  await page.locator(".chips .state").getByText("stopped").waitFor();
});

test("an address names an entry of a journal, and leads there", async () => {
  const { page } = shown;
  const run = await shown.startRun(`run ${Array.from({ length: 12 }, (_, n) => `"echo ${n}"`).join(" and ")}`);
  await shown.open(`/runs/${run}#seq=40`);
  const entry = page.locator("#seq-40");
  await entry.locator('[aria-expanded="true"]').waitFor();
  await page.waitForFunction("document.querySelector('#seq-40').getBoundingClientRect().top < innerHeight");
});

/** Words that are English and neither Portuguese nor Spanish, as whole words. */
const ENGLISH =
  /\b(?:the|of|with|is|are|was|were|for|and|this|that|what|it|its|to|from|yet|reading|run|runs|waiting|nothing|settings|agents|rules|tools|save|close|send|ago|now|done|filter|back|change|delete|working|today|hand|hands)\b/i;

/** Everything on the page that the console itself says: texts and what is read out, without what others wrote. */
const OWN_WORDS = `(() => {
  const isData = (node) => node.parentElement?.closest("bdi, code, pre, kbd, select, textarea, script, noscript, .switches label, .rule-head, .findings b, .facts b, .side footer, .journal, .new-token, [lang]:not(html)") != null;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = location.pathname.startsWith("/runs/") ? [] : [document.title.replace(/ · Vidro$/, "")];
  while (walker.nextNode()) if (!isData(walker.currentNode)) found.push(walker.currentNode.data.trim());
  for (const element of document.body.querySelectorAll("[aria-label], [placeholder]"))
    if (element.closest(".virtual, .tile, main section.card") === null)
      found.push(element.getAttribute("aria-label") ?? "", element.getAttribute("placeholder") ?? "");
  for (const option of document.querySelectorAll("option[value='']")) found.push(option.textContent);
  return found.filter((words) => words !== "");
})()`;

for (const [language, locale, home] of [
  ["pt", "pt-BR", "Início"],
  ["es", "es", "Inicio"],
] as const)
  test(`a browser that speaks ${locale} gets every page wholly in its language`, async () => {
    const { stdout } = await stage.run("console");
    const context = await browser.newContext({ locale, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(stdout.trim());
    await page.getByRole("link", { name: home }).waitFor();
    assert.equal(await page.evaluate("document.documentElement.lang"), locale);
    const { runs } = (await (await page.request.get(`${daemon.url}/v1/runs`)).json()) as { runs: { id: string }[] };
    const run = runs[0]?.id ?? "";
    for (const path of [
      "/",
      "/chat",
      "/runs",
      `/runs/${run}`,
      `/runs/${run}?view=timeline`,
      "/waiting",
      "/hands",
      "/agents",
      "/policy",
      "/knowledge",
      "/settings",
    ]) {
      await page.goto(daemon.url + path);
      await page.locator("main h1").first().waitFor({ state: "attached" });
      await page.waitForLoadState("networkidle").catch(() => undefined);
      const words = (await page.evaluate(OWN_WORDS)) as readonly string[];
      assert.deepEqual(
        words.filter((text) => ENGLISH.test(text)),
        [],
        `${path} in ${language}`,
      );
    }
    await page.getByRole("group", { name: "Idioma" }).getByText("English").click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    assert.equal(await page.evaluate("document.documentElement.lang"), "en");
    await context.close();
  });

test("all of an output that the journal cut is read from the hand in pages, as text, and can be saved", async () => {
  const { page } = shown;
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n + 1} <b>\u202e</b>`);
  writeFileSync(join(stage.workspace, "long.txt"), `${lines.join("\n")}\n`);
  const run = await shown.startRun('run "cat long.txt"');
  await page.getByRole("button", { name: /^Show all output \(/ }).click();
  const output = page.getByRole("region", { name: "All output" });
  await output.getByText("lines 1 to 500 of 20,000").waitFor();
  await output.getByRole("button", { name: "Later lines" }).click();
  await output.getByText("lines 501 to 1,000 of 20,000").waitFor();
  const text = await output.locator("pre").innerText();
  assert.ok(text.startsWith("line 501 <b>") && text.includes("line 1000 <b>"), text.slice(0, 80));
  assert.ok(!text.includes("\u202e") && text.includes("u202e"), "what turns text round is spelled out");
  assert.equal(await output.locator("pre b").count(), 0);
  await shown.assertAccessible();
  const [saved] = await Promise.all([page.waitForEvent("download"), output.getByText("Save all").click()]);
  assert.equal(readFileSync(await saved.path(), "utf8"), `${lines.join("\n")}\n`);
  rmSync(join(stage.home, "hand", "spool"), { recursive: true });
  await shown.open(`/runs/${run}`);
  await page.getByRole("button", { name: /^Show all output \(/ }).click();
  await page.getByText("The hand no longer keeps the whole output of this action.").waitFor();
});

test("the journal of a run says whether its hash chain is whole, and where it is not any more", async () => {
  const { page } = shown;
  const run = await shown.startRun("how much disk is free?");
  await page.getByRole("link", { name: "Journal" }).click();
  await page.locator(".chain").getByText("chain verified").waitFor();
  await page.locator(".chain").getByText("all sealed").waitFor();
  await shown.assertAccessible();
  {
    using database = new DatabaseSync(join(stage.home, "journal.db"));
    const number = "(SELECT number FROM run WHERE id = ?)";
    database.prepare(`UPDATE entry SET at = at + 1 WHERE seq = 2 AND run = ${number}`).run(run);
  }
  await page.getByRole("button", { name: "Verify again" }).click();
  await page.locator(".chain").getByText("not as it was written").waitFor();
  await page
    .locator(".chain")
    .getByText(/entry 2: /)
    .waitFor();
});
