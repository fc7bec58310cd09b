import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FILE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { TOOLS } from "../../packages/hands/src/tools/tools.ts";
import { text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import { IN_PROCESS_LINKS } from "../support/in-process-links.ts";

/* Images that a person attaches: kept once, unaltered, shown to a model that takes images, within bounds. */

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP8z8AARIgAAAkAAP8BBgEBlHQ0VgAAAABJRU5ErkJggg==";
const URL = `data:image/png;base64,${PNG}`;
const ask = (url: string): JsonObject => ({
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "what is it?" },
        { type: "image_url", image_url: { url } },
      ],
    },
  ],
});

test("an image of a chat message is kept as it is, and a model that is not known to take images is told of it", async (t) => {
  const brain = await startFrontEndServer(t, text("A red line."), text("Still red."));
  const { json } = await brain.ask("POST", "/chat/completions", { body: ask(URL) });
  assert.match(JSON.stringify(json), /A red line/);
  const [head] = await brain.runs.list({ limit: 1 });
  const [first] = await brain.runs.read(head!.id, 0, 1);
  assert.ok(first?.event.type === "run.started");
  assert.deepEqual(first.event.files, [{ mediaType: "image/png", data: PNG }]);
  assert.match(JSON.stringify(brain.fake.requests[0]?.body), /not shown: this model is not known to take images/);
  const input = [
    {
      role: "user",
      content: [
        { type: "input_image", image_url: URL },
        { type: "input_text", text: "and now?" },
      ],
    },
  ];
  const response = await brain.ask("POST", "/responses", { body: { input } });
  assert.match(JSON.stringify(response.json), /Still red/);
});

test("what is no image, is too large, or would have to be fetched is refused with the reason", async (t) => {
  const brain = await startFrontEndServer(t, text("never"));
  const wide = Buffer.from(PNG, "base64");
  wide.writeUInt32BE(60_000, 16);
  const large = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(FILE_LIMITS.imageBytes)]);
  const cases: readonly (readonly [string, RegExp])[] = [
    ["https://example.com/a.png", /data: address/],
    ["file:///etc/passwd", /data: address/],
    [`data:image/png;base64,${Buffer.from("no image").toString("base64")}`, /not an image/],
    [`data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}`, /not an image/],
    [`data:image/png;base64,${wide.toString("base64")}`, /60000 × 2 pixels/],
    [`data:image/png;base64,${large.toString("base64")}`, /make it smaller/],
  ];
  for (const [url, why] of cases) {
    const { status, json } = await brain.ask("POST", "/chat/completions", { body: ask(url) });
    assert.equal(status, 422, url.slice(0, 60));
    assert.match(JSON.stringify(json), why);
  }
  assert.equal(brain.fake.requests.length, 0);
});

for (const [name, connect] of Object.entries(IN_PROCESS_LINKS))
  test(`an image that a hand reads comes whole over ${name}, and one that is too large for the link is told of`, async (t) => {
    const { hand } = await connect(t, async ({ port }) => port, TOOLS);
    mkdirSync(hand.workspace, { recursive: true });
    const read = async (bytes: Buffer, id: string) => {
      writeFileSync(join(hand.workspace, "a.png"), bytes);
      const action = { id, tool: "read_file", input: { file_path: "a.png" }, callId: "c" };
      const order = { action, run: "run_1", epoch: 1, ttlMs: 60_000 };
      const [ended] = await Array.fromAsync(hand.perform(order, new AbortController().signal));
      assert.ok(ended?.type === "finished" && ended.outcome.kind === "value", JSON.stringify(ended));
      return ended.outcome;
    };
    const small = await read(Buffer.from(PNG, "base64"), "act_small");
    assert.deepEqual(small.files, [{ mediaType: "image/png", data: PNG, name: "a.png" }]);
    const large = await read(
      Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(FILE_LIMITS.imageBytes - 200)]),
      "act_large",
    );
    assert.ok(large.files !== undefined || large.text.includes("too large to be sent"), large.text);
  });
