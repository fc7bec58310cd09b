import assert from "node:assert/strict";
import { test } from "node:test";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

/* The scripted model counts 10 tokens of each prompt and 5 of each reply: 2 cents a call at this price. */
const PRICE = "1000/2000";

test("a run tells its cost, and ends by name when it has cost as much as it may", async () => {
  const looks = Array.from({ length: 5 }, (_, index) => shellLine(`echo ${index}`, "read"));
  await using model = await scriptedModel(...looks, doneLine("late"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url, VIDRO_MODEL_PRICE: PRICE });
  const { code, stderr } = await stage.run("run", "--max-cost", "0.03", "look around");
  assert.equal(code, 1);
  assert.equal(model.calls.length, 2);
  assert.match(stderr, /2 steps · 2 actions · 30 tokens · \$0\.04 · [^]*The run cost as much as it may[^]*--max-cost/);
  const [run] = lines((await stage.run("runs", "list", "--json")).stdout);
  const shown = await stage.run("runs", "show", "--verbose", String(run?.["run_id"]));
  assert.match(shown.stdout, /scripted: 15 tokens · \$0\.02\n/);
});

test("a bound on costs is refused for a model without a known price, and an amount that is none by its flag", async () => {
  await using model = await scriptedModel(doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const refused = await stage.run("run", "--max-cost", "1", "look around");
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /The price of scripted is not known[^]*VIDRO_MODEL_PRICE/);
  const wrong = await stage.run("run", "--max-cost", "much", "look around");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--max-cost[^]*amount above 0/);
  assert.equal(model.calls.length, 0);
});
