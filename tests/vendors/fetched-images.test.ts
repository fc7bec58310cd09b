import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import { ANSWER, fileOf, serveVendor, STEPS } from "./vendor.ts";
import type { Vendor } from "./vendor.ts";

/* An image that a message names by its address is fetched once by the brain, and every vendor gets its bytes. */

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP8z8AARIgAAAkAAP8BBgEBlHQ0VgAAAABJRU5ErkJggg==";

/** A daemon whose model is a vendor's, and a server with an image that its policy may name. */
async function setUp(t: TestContext, vendor: Vendor, { more = {}, isNamed = true } = {}) {
  const things = new AsyncDisposableStack();
  t.after(() => things.disposeAsync());
  const asked: string[] = [];
  const images = createServer(({ url = "" }, response) => {
    asked.push(url);
    if (url === "/meta") response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    else if (url === "/page") response.setHeader("content-type", "image/png").end("<html></html>");
    else response.end(Buffer.from(PNG, "base64"));
  });
  images.listen(0, "127.0.0.1");
  await once(images, "listening");
  things.defer(() => void images.close());
  const server = await serveVendor(vendor);
  things.defer(() => server.close());
  const stage = things.use(await Stage.set({ VIDRO_MODEL: undefined, ...server.env, ...more }));
  for (let step = 1; step <= STEPS; step++) writeFileSync(join(stage.workspace, fileOf(step)), `content ${step}\n`);
  mkdirSync(stage.home, { mode: 0o700 });
  const policy = { extends: "shipped", rules: [], ...(isNamed ? { privateHosts: ["127.0.0.1"] } : {}) };
  writeFileSync(join(stage.home, "policy.json"), JSON.stringify(policy), { mode: 0o600 });
  const daemon = things.use(await DaemonProcess.up(stage, { flags: ["--southbound-port", "0"] }));
  const base = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
  const post = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    const answer = await daemon.ask(path, { method: "POST", body: JSON.stringify(body) });
    return { status: answer.status, text: await answer.text() };
  };
  const chat = (url: string) =>
    post("/v1/chat/completions", {
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url } },
            { type: "text", text: "look" },
          ],
        },
      ],
    });
  return { asked, server, base, post, chat };
}

const SHAPES: readonly (readonly [Vendor, RegExp])[] = [
  [anthropic, /\{"type":"image","source":\{"type":"base64","media_type":"image\/png","data":"iVBOR/],
  [gemini, /\{"inlineData":\{"mimeType":"image\/png","data":"iVBOR/],
  [responses, /\{"type":"input_image","image_url":"data:image\/png;base64,iVBOR/],
];

for (const [vendor, shape] of SHAPES)
  test(`an image by its address in a chat and in a response is shown to the model: ${vendor.name}`, async (t) => {
    const { asked, server, base, post, chat } = await setUp(t, vendor);
    const { status, text } = await chat(`${base}/a.png`);
    assert.equal(status, 200, text);
    assert.match(text, new RegExp(ANSWER));
    const image = { type: "input_image", image_url: `${base}/a.png` };
    const input = [{ role: "user", content: [image, { type: "input_text", text: "look" }] }];
    assert.equal((await post("/v1/responses", { input })).status, 200);
    assert.deepEqual(server.refusals, []);
    for (const body of server.bodies.map((one) => JSON.stringify(one))) {
      assert.match(body, shape);
      assert.ok(!body.includes("/a.png"), "no vendor learns the address");
    }
    assert.deepEqual(asked, ["/a.png"], "it is fetched once");
  });

test("an address that is not public, leads to one or holds no image is refused by name, and no model is asked", async (t) => {
  const { server, base, chat } = await setUp(t, anthropic);
  for (const [url, why] of [
    [`${base}/meta`, /169\.254\.169\.254, which is not public/],
    [`${base}/page`, /it is no image/],
    ["http://[::1]:1/a.png", /which is not public/],
    ["http://localhost:1/a.png", /which is not public/],
  ] as const) {
    const { status, text } = await chat(url);
    assert.equal(status, 422, text);
    assert.match(text, why);
  }
  assert.equal(server.bodies.length, 0);
});

test("a policy that names no private host, and a setting that forbids to fetch, keep every server unasked", async (t) => {
  const unnamed = await setUp(t, anthropic, { isNamed: false });
  assert.match((await unnamed.chat(`${unnamed.base}/a.png`)).text, /127\.0\.0\.1, which is not public/);
  const forbidden = await setUp(t, anthropic, { more: { VIDRO_FETCH_IMAGES: "false" } });
  const { status, text } = await forbidden.chat(`${forbidden.base}/a.png`);
  assert.equal(status, 422);
  assert.match(text, /fetch_images/);
  assert.deepEqual([unnamed.asked, forbidden.asked], [[], []]);
});
