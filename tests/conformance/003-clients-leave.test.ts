import assert from "node:assert/strict";
import { test } from "node:test";
import { hang, text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import { until } from "../support/daemon-process.ts";

/* What becomes of a run when its client disconnects, and how a client may send its token. */

const REQUESTS = [
  ["/chat/completions", { model: "bunny", messages: [{ role: "user", content: "hello" }] }],
  ["/responses", { model: "bunny", input: "hello" }],
] as const;

test("X-Vidro-On-Disconnect: stop stops the run of a client that disconnects, plain and streamed; else it goes on", async (t) => {
  const brain = await startFrontEndServer(t, hang);
  const token = await brain.token("ana", "runs");
  const wishes = [
    [{}, "running"],
    [{ "x-vidro-on-disconnect": "continue" }, "running"],
    [{ "x-vidro-on-disconnect": "stop" }, "aborted"],
  ] as const;
  for (const [path, body] of REQUESTS)
    for (const stream of [false, true])
      for (const [wish, fate] of wishes) {
        const gone = new AbortController();
        const asked = brain.fake.next();
        const headers = { ...wish, authorization: `Bearer ${token}`, "content-type": "application/json" };
        const request = fetch(brain.url + path, {
          method: "POST",
          headers,
          body: JSON.stringify({ ...body, stream }),
          signal: gone.signal,
        }).then((response) => response.text());
        const { over } = await asked;
        gone.abort();
        await assert.rejects(request, { name: "AbortError" });
        const [head] = await brain.runs.list({ limit: 1 });
        if (fate === "aborted") {
          assert.equal(await over, "cut");
          await until("the run is over", async () => (await brain.runs.find(head!.id)).status === "aborted");
        } else {
          await brain.ask("GET", "/models");
          assert.equal((await brain.runs.find(head!.id)).status, "running", `${path} ${stream}`);
          // Else the next request would be taken for the same one again.
          await brain.runs.abort(head!.id, "The test goes on.");
        }
      }
});

test("an answer that is whole is not stopped when its client leaves, and another wish is refused", async (t) => {
  const brain = await startFrontEndServer(t, text("ok"));
  for (const [path, body] of REQUESTS) {
    const whole = await brain.ask("POST", path, { body, headers: { "x-vidro-on-disconnect": "stop" } });
    assert.equal(whole.status, 200);
    const refused = await brain.ask("POST", path, { body, headers: { "x-vidro-on-disconnect": "explode" } });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /stop or continue/);
  }
  assert.deepEqual(
    (await brain.runs.list({ limit: 9 })).map(({ status }) => status),
    ["finished", "finished"],
  );
});

test("a token may come as the password of Basic authentication", async (t) => {
  const brain = await startFrontEndServer(t);
  const token = await brain.token("ana", "runs");
  const status = async (authorization: string): Promise<number> =>
    (await fetch(`${brain.url}/models`, { headers: { authorization } })).status;
  const basic = (words: string): string => `Basic ${Buffer.from(words).toString("base64")}`;
  assert.equal(await status(basic(`ana:${token}`)), 200);
  assert.equal(await status(basic(`:${token}`)), 200);
  for (const wrong of [`${token}:`, token, `ana:${token}x`, "ana:a:b", "\u0000:\u0001", ""])
    assert.equal(await status(basic(wrong)), 401, JSON.stringify(wrong));
  assert.equal(await status("Basic ===="), 401);
});
