import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { cutInto, everyChunking, join, sizes, utf8 } from "./chunks.fixture.ts";
import { encodeSse, SSE_HEARTBEAT, sseDecoder } from "./sse.ts";
import type { SseItem, SseMessage } from "./sse.ts";

function decodeAll(chunks: readonly Uint8Array[], maxBytes?: number): SseItem[] {
  const decoder = sseDecoder(maxBytes);
  const items = chunks.flatMap((chunk) => decoder.push(chunk));
  const last = decoder.end();
  return last === undefined ? items : [...items, last];
}

/** What every chunking of the text gives, after checking that all give the same. */
function heard(text: string, maxBytes?: number): (SseMessage | string)[] {
  const all = everyChunking(utf8(text)).map((chunks) => decodeAll(chunks, maxBytes));
  for (const items of all) assert.deepEqual(items, all[0]);
  return (all[0] ?? []).map((item) => (item.ok ? item.value : item.fault.code));
}

const message = (data: string, more: Partial<SseMessage> = {}): SseMessage => ({
  id: "",
  event: "message",
  data,
  ...more,
});

const line = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replace(/[\r\n\0]/g, ""));
const event = fc.record(
  { id: line, event: line, data: fc.string({ unit: "grapheme", maxLength: 60 }) },
  { requiredKeys: ["data"] },
);

test("F12: events come back the same from every chunking, heartbeats unheard", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), sizes, (events, pieces) => {
      const bytes = utf8(events.map((each) => SSE_HEARTBEAT + encodeSse(each)).join(""));
      let id = "";
      const expected = events.map((each) => {
        id = each.id ?? id;
        return { ok: true, value: { id, event: each.event || "message", data: each.data.replace(/\r\n?/g, "\n") } };
      });
      for (const chunks of [...everyChunking(bytes), cutInto(bytes, pieces)]) {
        assert.deepEqual(decodeAll(chunks), expected);
      }
    }),
  );
});

test("F12: any bytes at all give the same events in every chunking", () => {
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc
      .constantFrom("\r", "\n", "\r\n", "data:", "data: é😀", "id:1", "event:x", ":", "\uFEFF", "x".repeat(50))
      .map(utf8),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), sizes, (parts, pieces) => {
      const bytes = join(...parts);
      const expected = decodeAll([bytes], 40);
      for (const chunks of [...everyChunking(bytes), cutInto(bytes, pieces)]) {
        assert.deepEqual(decodeAll(chunks, 40), expected);
      }
    }),
  );
});

test("the examples of the standard are heard as the standard says", () => {
  assert.deepEqual(heard("data: YHOO\ndata: +2\ndata: 10\n\n"), [message("YHOO\n+2\n10")]);
  assert.deepEqual(
    heard(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"),
    [message("first event", { id: "1" }), message("second event"), message(" third event")],
  );
  assert.deepEqual(heard("data\n\ndata\ndata\n\n"), [message(""), message("\n")]);
  assert.deepEqual(heard("data:test\n\ndata: test\n\n"), [message("test"), message("test")]);
});

test("CR, LF and CRLF end lines, also mixed and split, and a byte order mark is passed over once", () => {
  assert.deepEqual(heard("\uFEFFdata: a\r\rdata: b\r\n\r\ndata: c\n\r\n"), [message("a"), message("b"), message("c")]);
  assert.deepEqual(heard("data: a\n\n\uFEFFdata: b\n\n"), [message("a")]);
});

test("names, unknown fields, and ids are read as the standard says", () => {
  assert.deepEqual(heard("event: add\ndata: 1\n\ndata: 2\n\n"), [message("1", { event: "add" }), message("2")]);
  assert.deepEqual(heard("event: lost\n\ndata: 1\n\n"), [message("1")]);
  assert.deepEqual(heard("id: 7\n\ndata: 1\nid: a\0b\n\n"), [message("1", { id: "7" })]);
  assert.deepEqual(heard("Data: no\nfoo: bar\n data: no\ndata: yes\n\n"), [message("yes")]);
});

test("retry is digits only, and the last id is there to resume from", () => {
  const decoder = sseDecoder();
  decoder.push(utf8("retry: 1500\nid: 42\n\nretry: 1x\nretry:\n"));
  assert.equal(decoder.retryMs, 1500);
  assert.equal(decoder.lastEventId, "42");
});

test("bytes that are no UTF-8 become replacement characters", () => {
  const [item] = decodeAll([join(utf8("data: a"), Uint8Array.of(0xff, 0xe2, 0x82), utf8("\n\n"))]);
  assert.deepEqual(item, { ok: true, value: message("a\uFFFD\uFFFD") });
});

test("an event over the bound is one fault, and the next event is heard", () => {
  assert.deepEqual(heard(`id: 9\ndata: ${"x".repeat(100)}\ndata: y\n\ndata: z\n\n`, 50), [
    "PAYLOAD_TOO_LARGE",
    message("z"),
  ]);
  assert.deepEqual(heard(`${"data: xxxx\n".repeat(9)}\ndata: z\n\n`, 50), ["PAYLOAD_TOO_LARGE", message("z")]);
  assert.deepEqual(heard(`${": comment\n".repeat(99)}data: z\n\n`, 50), [message("z")]);
});

test("a stream that ends inside an event ends with a fault and without the event", () => {
  assert.deepEqual(heard("data: a\n\ndata: b\n"), [message("a"), "BAD_REQUEST"]);
  assert.deepEqual(heard("data: a\n\ndat"), [message("a"), "BAD_REQUEST"]);
  assert.deepEqual(heard("data: a\n\n: bea"), [message("a")]);
});

test("a name or an id that would begin another line is refused", () => {
  for (const bad of ["a\nb", "a\rdata: b"]) {
    assert.throws(() => encodeSse({ event: bad, data: "" }), { name: "Fault", code: "BAD_REQUEST" });
    assert.throws(() => encodeSse({ id: bad, data: "" }), { name: "Fault", code: "BAD_REQUEST" });
  }
  assert.throws(() => encodeSse({ id: "\0", data: "" }), { name: "Fault", code: "BAD_REQUEST" });
});
