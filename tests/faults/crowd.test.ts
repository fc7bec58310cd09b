import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { ndjsonDecoder } from "@vidro/core/codec";
import type { JsonObject } from "@vidro/core";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { fakeOpenAi } from "../support/fake-openai.ts";
import { seedStore } from "../support/seed-store.ts";
import type { SeedRun } from "../support/seed-store.ts";
import { talkingModel } from "../support/talking-model.ts";

/* A daemon with a long past, and a tenth of its conversations at work at the same time. */

const THREADS = 10_000;
const ACTIVE = 1000;
const AT_ONCE = 50;
const WORDS = Array.from({ length: 12 }, (_, index) => `word ${index} `);
const REST_MS = 250;
const GIB = 1024 ** 3;

function* past(): Generator<SeedRun> {
  for (let index = 0; index < THREADS; index += 1)
    yield {
      id: `run_past_${index}`,
      thread: `thread_${index}`,
      task: `Task ${index}`,
      events: [{ type: "note.observed", note: `What was done in ${index}.` }],
    };
}

/** Everything that a follower of a run is told until the stream ends. */
async function follow({ port, token }: DaemonProcess, run: string): Promise<readonly JsonObject[]> {
  const socket = connect(Number(port), "127.0.0.1");
  const head = [`GET /v1/runs/${run}/events HTTP/1.0`, "Host: 127.0.0.1", `Authorization: Bearer ${token}`];
  socket.write(`${head.join("\r\n")}\r\nAccept: application/x-ndjson\r\n\r\n`);
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  await once(socket, "close");
  const whole = Buffer.concat(pieces);
  const lines = ndjsonDecoder().push(whole.subarray(whole.indexOf("\r\n\r\n") + 4));
  return lines.map((line) => {
    assert.ok(line.ok, "a line is whole");
    return line.value as JsonObject;
  });
}

test("F23 a thousand runs at once among ten thousand threads reach their followers without a gap, in less than 1 GiB", async (t) => {
  const go = Promise.withResolvers<void>();
  const model = await fakeOpenAi(talkingModel(WORDS, REST_MS, go.promise));
  t.after(() => model.close());
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  await seedStore(stage.home, past());
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  let most = 0;
  const looking = setInterval(() => (most = Math.max(most, daemon.rssBytes)), 50);
  const following: Promise<readonly JsonObject[]>[] = [];
  let begun = 0;
  const begin = async (): Promise<void> => {
    while (begun < ACTIVE) {
      begun += 1;
      following.push(follow(daemon, await daemon.run(`Talk about ${begun}.`)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, begin));
  await until("all of them are watched", async () => (await daemon.streams()) === ACTIVE);
  go.resolve();
  const told = await Promise.all(following).finally(() => clearInterval(looking));
  assert.equal(told.length, ACTIVE);
  for (const lines of told) {
    const entries = lines.filter((line) => "seq" in line);
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      entries.map((_, index) => index + 1),
    );
    const { type, result } = (entries.at(-1)?.["event"] ?? {}) as JsonObject;
    assert.deepEqual([type, result], ["run.finished", WORDS.join("").trim()]);
  }
  assert.ok(most < GIB, `${most / GIB} GiB`);
});
