import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { COUNT_OBJECTS_FLAGS } from "../support/live-objects.ts";
import type { LiveObjects } from "../support/live-objects.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { fakeOpenAi, hangAfter } from "../support/fake-openai.ts";

/* Clients that come, see the beginning of an answer, and are gone without a word: ten thousand of them. */

const CYCLES = 10_000;
const AT_ONCE = 50;
const TASK = "Tell me a story.";

/** Requests for streams that do not end, one for each wire; all of them are about one run. */
function requests({ token }: DaemonProcess, run: string): readonly string[] {
  const head = (first: string, ...more: readonly string[]): string =>
    [first, "Host: 127.0.0.1", `Authorization: Bearer ${token}`, ...more, "", ""].join("\r\n");
  const messages = [{ role: "user", content: TASK }];
  const body = JSON.stringify({ model: "bunny", stream: true, messages });
  const posted = ["Content-Type: application/json", "Idempotency-Key: vanish", `Content-Length: ${body.length}`];
  return [
    head(`GET /agent/runs/${run}/events HTTP/1.1`, "Accept: text/event-stream"),
    head(`GET /agent/runs/${run}/events HTTP/1.1`, "Accept: application/x-ndjson"),
    head(`GET /v1/runs/${run}/events HTTP/1.1`, "Accept: text/event-stream"),
    head(`GET /v1/runs/${run}/events HTTP/1.1`, "Accept: application/x-ndjson"),
    head("POST /v1/chat/completions HTTP/1.1", ...posted) + body,
  ];
}

/** Sees the first bytes of an answer and vanishes, in order or with a reset. */
async function vanish(port: string, request: string, turn: number): Promise<void> {
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(request);
  const [first] = (await once(socket, "data")) as [Buffer];
  assert.match(first.toString("latin1"), /^HTTP\/1\.1 200 /);
  const closed = once(socket, "close");
  if (turn % 2 === 0) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

/** What is alive in the daemon, and what it has open. */
async function left(daemon: DaemonProcess): Promise<LiveObjects & { readonly descriptors: number }> {
  return { ...(await daemon.census()), descriptors: daemon.descriptors };
}

const NAMES = ["timers", "sockets", "responses", "signals", "emitters", "descriptors"] as const;
/** The client that asks for the numbers has a connection, too. */
const SPARE = 2;

test("F24 ten thousand clients that connect and vanish leave no listener, timer or descriptor behind", async (t) => {
  const model = await fakeOpenAi(hangAfter("Once upon "));
  t.after(() => model.close());
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"], node: COUNT_OBJECTS_FLAGS });
  const body = JSON.stringify({ model: "bunny", stream: true, messages: [{ role: "user", content: TASK }] });
  const headers = { "idempotency-key": "vanish" };
  const begun = await daemon.ask("/v1/chat/completions", { method: "POST", body, headers });
  const wires = requests(daemon, begun.headers.get("x-run-id") ?? "");
  await begun.body?.cancel();

  let turn = 0;
  const cycle = async (cycles: number): Promise<void> => {
    const last = turn + cycles;
    const one = async (): Promise<void> => {
      while (turn < last) {
        turn += 1;
        await vanish(daemon.port, wires[turn % wires.length] ?? "", Math.floor(turn / wires.length));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    await until("the daemon has noticed", async () => (await daemon.streams()) === 0);
  };
  await cycle(AT_ONCE * wires.length);
  const before = await left(daemon);
  await cycle(CYCLES);
  let after = before;
  const grown = (): readonly string[] => NAMES.filter((name) => after[name] > before[name] + SPARE);
  await until("nothing is left", async () => {
    after = await left(daemon);
    return grown().length === 0;
  }).catch(() => assert.deepEqual(after, before));
});
