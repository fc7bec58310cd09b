import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { HTTP_LIMITS } from "@vidro/core";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { fakeOpenAi, text } from "../support/fake-openai.ts";

/** Makes every answer that is kept for a key older than it is kept. */
function age(home: string): void {
  const store = new DatabaseSync(join(home, "journal.db"));
  store.prepare("UPDATE record SET created = created - ? WHERE kind = 'idempotency'").run(HTTP_LIMITS.answerMs + 1);
  store.close();
}

test("a key whose record is gone begins what it is sent with, and does not answer with another task's run", async (t) => {
  const fake = await fakeOpenAi(...Array.from({ length: 8 }, () => text("ok")));
  t.after(() => fake.close());
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url });
  await using daemon = await DaemonProcess.up(stage);
  const post = async (path: string, body: object): Promise<{ status: number; run: string; text: string }> => {
    const headers = { "idempotency-key": "nightly" };
    const response = await daemon.ask(path, { method: "POST", headers, body: JSON.stringify(body) });
    const said = await response.text();
    const id = response.headers.get("x-run-id") ?? (JSON.parse(said) as { id?: string }).id ?? "";
    return { status: response.status, run: id, text: said };
  };
  const chat = (content: string): object => ({ messages: [{ role: "user", content }], stream: true });
  for (const [path, one, other] of [
    ["/v1/runs", { task: "count the files" }, { task: "delete the files" }],
    ["/v1/chat/completions", chat("count the files"), chat("delete the files")],
  ] as const) {
    const first = await post(path, one);
    assert.equal((await post(path, other)).status, 409);
    assert.equal((await post(path, one)).run, first.run);
    age(stage.home);
    const second = await post(path, other);
    assert.ok(second.status < 300 && second.run !== "" && second.run !== first.run, JSON.stringify([first, second]));
  }
});
