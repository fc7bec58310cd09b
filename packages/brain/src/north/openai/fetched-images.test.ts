import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, FILE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { withFetchedImages } from "./fetched-images.ts";

const { signal } = new AbortController();
const chat = (...urls: readonly string[]): JsonObject => ({
  role: "user",
  content: [
    { type: "text", text: "look" },
    ...urls.map((url) => ({ type: "image_url", image_url: { url, detail: "low" } })),
  ],
});

/** Gives the address back as if it were the bytes; those with `gone` are not there. */
const asked: string[] = [];
const fetchImage = async (address: string) => {
  asked.push(address);
  if (address.includes("gone")) throw new Fault("TOOL_FAILED", `${address} is gone.`);
  return { mediaType: "image/png", data: Buffer.from(address).toString("base64") };
};
const dataOf = (address: string): string => `data:image/png;base64,${Buffer.from(address).toString("base64")}`;

test("images of both wires become data: addresses, and all else stays as it is", async () => {
  const body = {
    model: "bunny",
    messages: [{ role: "system", content: "be brief" }, chat("https://a/1.png", "data:x")],
  };
  const fetched = await withFetchedImages(body, { fetchImage, signal });
  const parts = [
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: dataOf("https://a/1.png"), detail: "low" } },
    { type: "image_url", image_url: { url: "data:x", detail: "low" } },
  ];
  assert.deepEqual(fetched, { ...body, messages: [body.messages[0], { role: "user", content: parts }] });
  const image = { type: "input_image", image_url: "http://a/2.png", detail: "auto" };
  const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: "look" }, image] }];
  const response = await withFetchedImages({ input }, { fetchImage, signal });
  assert.match(JSON.stringify(response), /\{"type":"input_image","image_url":"data:image\/png;base64,/);
  for (const plain of [
    { input: "look at http://a/1.png" },
    { messages: "no list" },
    { messages: [null, 7, { content: 7 }] },
  ])
    assert.equal(await withFetchedImages(plain, { fetchImage, signal }), plain);
});

test("an image of the task that is gone is refused where it is; an earlier one leaves words", async () => {
  const gone = [chat("https://gone/1.png"), { role: "assistant", content: "nice" }, chat("https://a/1.png")];
  const kept = await withFetchedImages({ messages: gone }, { fetchImage, signal });
  assert.match(JSON.stringify(kept), /\[An image is not shown: https:\/\/gone\/1\.png is gone\.\]/);
  const messages = [chat("https://a/1.png"), chat("https://gone/1.png")];
  await assert.rejects(withFetchedImages({ messages }, { fetchImage, signal }), {
    code: "BAD_ARGUMENTS",
    message: /is gone/,
    detail: { path: "/messages/1/content/1/image_url" },
  });
});

test("a brain that is set to fetch nothing asks no server, and names the setting", async () => {
  asked.length = 0;
  await assert.rejects(withFetchedImages({ messages: [chat("https://a/1.png")] }, { signal }), {
    code: "BAD_ARGUMENTS",
    message: /fetch_images/,
  });
  assert.deepEqual(asked, []);
});

test("of many images the newest are fetched", async () => {
  asked.length = 0;
  const messages = Array.from({ length: FILE_LIMITS.files + 3 }, (_, at) => chat(`https://a/${at}.png`));
  const fetched = await withFetchedImages({ messages }, { fetchImage, signal });
  assert.deepEqual(
    asked.toSorted(),
    messages
      .slice(3)
      .map((_, at) => `https://a/${at + 3}.png`)
      .toSorted(),
  );
  assert.equal(JSON.stringify(fetched).match(/is not shown any more/g)?.length, 3);
});
