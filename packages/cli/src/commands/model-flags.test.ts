import assert from "node:assert/strict";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { doneLine, scriptedModel } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

test("--model and --effort of run and code, and the model and effort of a chat, reach the model's server, and the journal keeps them", async () => {
  await using model = await scriptedModel(doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  await using daemon = await up(stage);
  const chosen = ["--model", "other", "--effort", "high"];
  assert.equal((await stage.run("run", ...chosen, "look")).code, 0);
  const [run] = lines((await stage.run("runs", "list", "--json")).stdout);
  const [started] = lines((await stage.run("runs", "export", String(run?.["run_id"]))).stdout);
  assert.deepEqual([started?.body["model"], started?.body["sampling"]], ["other", { reasoning: "high" }]);
  assert.equal((await stage.run("code", ...chosen, "look")).code, 0);
  for (const call of model.calls) assert.match(call, /"model":"other"[^]*"reasoning_effort":"high"/);
  assert.equal(model.calls.length, 2);
  const headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
  const asked = { model: "maker/their", reasoning_effort: "low", messages: [{ role: "user", content: "look" }] };
  const chat = { method: "POST", headers, body: JSON.stringify(asked) };
  assert.equal((await fetch(`${daemon.url}/v1/chat/completions`, chat)).status, 200);
  assert.match(model.calls[2] ?? "", /"model":"maker\/their"[^]*"reasoning_effort":"low"/);
  const wrong = await stage.run("run", "--effort", "huge", "look");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--effort[^]*low, medium, high/);
});
