import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { test } from "node:test";
import { LOCAL_OWNER } from "../../packages/brain/src/auth/caller.ts";
import { STREAM_LIMITS } from "@vidro/core";
import type { Event } from "@vidro/core";
import { keyForRequest, idempotencyKey } from "../../packages/brain/src/http/idempotency.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { FREQUENT_GC_FLAGS, RETURN_MEMORY_ENV } from "../support/frequent-gc.ts";
import { PATIENT_STREAMS_FLAGS } from "../support/preload-flags.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { seedStore } from "../support/seed-store.ts";

/*
 * Consumers that stop reading in the middle of a long run. What the system itself buffers for them is not ours, so the
 * run is longer than that; what the daemon holds for each of them shows in the memory of its process.
 */

const MIB = 1024 * 1024;
/** How many stop reading at a time, how often before it counts, and how often when it does. */
const WAVE = 5;
const WARM = 4;
const WAVES = 8;
/** How long a busy machine may take for what is soon there. */
const BUSY_MS = 240_000;
/** Looks in a row, over half a second, at which the memory must be the same: on a busy machine a stream fills up slowly. */
const STEADY = 12;
const STEPS = 2500;
const WORDS = "word ".repeat(800);
const RUN = "run_long";
const CHAT = "POST /v1/chat/completions";
const TASK = "Tell me everything.";

/** A way to read the run: what to send, and what it has shown of the run by a text that it gave. */
interface Wire {
  readonly name: string;
  request(daemon: DaemonProcess, after: number): string;
  /** Entries, or words, that are in a text, in order. */
  seen(text: string): readonly number[];
  readonly resumes: boolean;
}

function get(path: string, accept: string): Wire["request"] {
  return (daemon, after) =>
    [
      `GET ${path}?after=${after} HTTP/1.1`,
      "Host: 127.0.0.1",
      `Accept: ${accept}`,
      `Authorization: Bearer ${daemon.token}`,
      "Connection: close",
      "\r\n",
    ].join("\r\n");
}

const CHAT_BODY = { model: "bunny", stream: true, messages: [{ role: "user", content: TASK }] };

const chat: Wire["request"] = (daemon) => {
  const body = JSON.stringify(CHAT_BODY);
  return [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${daemon.token}`,
    "Content-Type: application/json",
    "Idempotency-Key: slow",
    `Content-Length: ${body.length}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
};

const numbers =
  (pattern: RegExp): Wire["seen"] =>
  (text) =>
    [...text.matchAll(pattern)].map(([, number]) => Number(number));

const seqs = numbers(/"seq":(\d+)[,}]/g);
const WIRES: readonly Wire[] = [
  {
    name: "agent SSE",
    request: get(`/agent/runs/${RUN}/events`, "text/event-stream"),
    seen: numbers(/^id: (\d+)$/gm),
    resumes: true,
  },
  { name: "AON glass", request: get(`/agent/runs/${RUN}/events`, "application/x-ndjson"), seen: seqs, resumes: true },
  { name: "journal NDJSON", request: get(`/v1/runs/${RUN}/events`, "application/x-ndjson"), seen: seqs, resumes: true },
  { name: "chat completions", request: chat, seen: numbers(/Part (\d+)\./g), resumes: false },
];

function* steps(): Generator<Event> {
  for (let step = 1; step <= STEPS; step += 1) {
    yield { type: "note.observed", note: WORDS };
    yield {
      type: "model.replied",
      model: "none",
      text: `Part ${step}. ${WORDS}`,
      usage: { inputTokens: 1, outputTokens: 1 },
    };
  }
}

function open(daemon: DaemonProcess, wire: Wire, after = 0): Socket {
  const socket = connect(Number(daemon.port), "127.0.0.1").pause();
  socket.on("error", () => undefined).write(wire.request(daemon, after));
  return socket;
}

async function rest(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece)).resume();
  await once(socket, "close");
  return Buffer.concat(pieces)
    .toString("latin1")
    .replaceAll(/\r\n[\da-f]+\r\n/g, "");
}

/** The memory of the daemon when it has come to rest. */
async function settled(daemon: DaemonProcess): Promise<number> {
  let seen: number[] = [];
  await until(
    "the memory is steady",
    () => {
      seen = [...seen.slice(-STEADY), daemon.rssBytes];
      return seen.length > STEADY && Math.max(...seen) - Math.min(...seen) < MIB;
    },
    BUSY_MS,
  );
  return seen.at(-1) ?? NaN;
}

/** Has so many stop reading, one wave after the other, so that what is used in passing is used again by the next. */
async function stuck(daemon: DaemonProcess, wire: Wire, waves: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const before = await daemon.streams();
  for (let wave = 0; wave < waves; wave += 1) {
    sockets.push(...Array.from({ length: WAVE }, () => open(daemon, wire)));
    const isConnected = async (): Promise<boolean> => (await daemon.streams()) === before + sockets.length;
    await until("all are connected", isConnected, BUSY_MS);
    await settled(daemon);
  }
  return sockets;
}

async function costs(daemon: DaemonProcess, wire: Wire): Promise<void> {
  const whole = wire.seen(await rest(open(daemon, wire)));
  // What the first ones cost besides is not theirs: code that is compiled, and room that is used again.
  const first = await stuck(daemon, wire, WARM);
  const before = await settled(daemon);
  const more = await stuck(daemon, wire, WAVES);
  const quick = wire.seen(await rest(open(daemon, wire)));
  const grew = ((await settled(daemon)) - before) / more.length;
  assert.equal(await daemon.streams(), first.length + more.length, "none of them was cut off yet");
  assert.deepEqual(quick, whole, "a follower that reads gets all of it meanwhile");
  assert.ok(grew < 2 * MIB, `${grew / MIB} MiB for each`);
  const [one, ...others] = [...first, ...more];
  for (const socket of others) socket.destroy();
  assert.deepEqual(wire.seen(await rest(one!)), whole, "a follower that reads on gets the rest");
  await until("all are gone", async () => (await daemon.streams()) === 0);
}

/** Reads what was sent before the daemon cut the connection off, and then asks for what is missing. */
async function resumes(daemon: DaemonProcess, wire: Wire, cutOff: Socket): Promise<void> {
  const got = wire.seen(await rest(cutOff));
  const whole = wire.seen(await rest(open(daemon, wire)));
  assert.ok(got.length > 0 && got.length < whole.length, `${got.length} of ${whole.length}`);
  const later = wire.resumes ? wire.seen(await rest(open(daemon, wire, got.at(-1)))) : whole.slice(got.length);
  assert.deepEqual([...got, ...later], whole);
}

/** A daemon that has the long run. */
async function daemonOf(stage: Stage, node: readonly string[] = []): Promise<DaemonProcess> {
  const key = keyForRequest(idempotencyKey(LOCAL_OWNER, CHAT, "slow"), { params: {}, query: {}, body: CHAT_BODY });
  await seedStore(stage.home, [{ id: RUN, thread: "thread_long", task: TASK, key, events: [...steps()] }]);
  return DaemonProcess.up(stage, { flags: ["--port", "0"], node });
}

test("F13 a consumer that does not read costs the daemon less than 2 MiB on any wire, and the others nothing", async (t) => {
  await using patientStage = await Stage.set();
  await using patient = await daemonOf(patientStage);
  // They are left alone until the patience of that daemon is over, while the memory of the other one is looked at.
  const unread = WIRES.map((wire) => open(patient, wire));
  await until("all are connected", async () => (await patient.streams()) === unread.length);
  await using stage = await Stage.set(RETURN_MEMORY_ENV);
  await using daemon = await daemonOf(stage, [...PATIENT_STREAMS_FLAGS, ...FREQUENT_GC_FLAGS]);
  for (const wire of WIRES) await t.test(wire.name, () => costs(daemon, wire));
  await t.test("those who never read are cut off, and go on where they were", async () => {
    await until("all are cut off", async () => (await patient.streams()) === 0, 2 * STREAM_LIMITS.drainMs);
    await Promise.all(WIRES.map((wire, index) => resumes(patient, wire, unread[index]!)));
  });
});
