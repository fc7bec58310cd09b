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

test("a conversation ends by name when its runs cost as much as it may, and the next one does not", async () => {
  await using model = await scriptedModel(doneLine("one"), doneLine("two"), doneLine("three"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url, VIDRO_MODEL_PRICE: PRICE });
  const [first] = lines((await stage.run("run", "--json", "one")).stdout);
  const { thread } = (first?.["body"] ?? {}) as { readonly thread: string };
  const again = (...flags: string[]) => stage.run("run", "--thread", thread, "--max-thread-cost", ...flags, "go on");
  assert.equal((await again("0.03")).code, 0);
  const { code, stderr } = await again("0.04");
  assert.equal(code, 1);
  assert.match(stderr, /runs of this conversation cost \$0\.04 of at most \$0\.04[^]*--max-thread-cost/);
  assert.equal(model.calls.length, 2);
  assert.equal((await stage.run("run", "--max-thread-cost", "0.01", "three")).code, 0);
});

test("a day ends runs by name when all cost as much as it may; what costs nothing goes on", async () => {
  await using model = await scriptedModel(shellLine("echo a", "read"), shellLine("echo b", "read"), doneLine("late"));
  await using stage = await Stage.set({
    VIDRO_MODEL: "",
    VIDRO_MODEL_URL: model.url,
    VIDRO_MODEL_PRICE: PRICE,
    VIDRO_MAX_DAY_COST: "0.03",
  });
  const within = await stage.run("run", "look around");
  assert.equal(within.code, 1);
  assert.match(within.stderr, /2 steps[^]*today \(UTC\) cost \$0\.04 of at most \$0\.03[^]*max_day_cost/);
  const another = await stage.run("run", "look again");
  assert.match(another.stderr, /0 steps[^]*today \(UTC\)/);
  assert.equal(model.calls.length, 2);
  assert.equal((await stage.run("run", "--model", "offline", "what is the host name?")).code, 0);
});

test("tokens and money are summed up by day, thread and run; tokens of unknown price are told", async () => {
  await using model = await scriptedModel(doneLine("one"), doneLine("two"), doneLine("three"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url, VIDRO_MODEL_PRICE: PRICE });
  const [first] = lines((await stage.run("run", "--json", "one")).stdout);
  const { thread } = (first?.["body"] ?? {}) as { readonly thread: string };
  await stage.run("run", "--thread", thread, "two");
  await stage.run("run", "three");
  const sums = async (by: string) => lines((await stage.run("runs", "usage", "--by", by, "--json")).stdout);
  const [day, ...others] = await sums("day");
  assert.deepEqual(others, []);
  assert.match(String(day?.["day"]), /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual([day?.["runs"], day?.["steps"], day?.["input_tokens"], day?.["cost_usd"]], [3, 3, 30, 0.06]);
  const threads = await sums("thread");
  assert.deepEqual(
    threads.map(({ runs, cost_usd: cost }) => [runs, cost]),
    [
      [1, 0.02],
      [2, 0.04],
    ],
  );
  assert.equal(threads[1]?.["thread"], thread);
  assert.equal((await sums("run")).length, 3);
  assert.match((await stage.run("runs", "usage")).stdout, /3 runs · 3 steps · 45 tokens · \$0\.06\n$/);
  await using other = await scriptedModel(doneLine("four"));
  await using unpriced = await Stage.set({ ...stage.command.env, VIDRO_MODEL_URL: other.url, VIDRO_MODEL_PRICE: "" });
  assert.match((await unpriced.run("run", "four")).stderr, /15 tokens · price not known/);
  assert.match((await unpriced.run("runs", "usage")).stdout, /60 tokens · \$0\.06 · price of 15 not known\n$/);
});
