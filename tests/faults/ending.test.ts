import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { Entry, Event } from "@vidro/core";
import { thisHolder } from "../../packages/brain/src/stores/lease-holder.ts";
import { LOCAL_OWNER } from "../../packages/brain/src/auth/caller.ts";
import { openStore } from "../../packages/brain/src/stores/stores.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { fakeOpenAi } from "../support/fake-openai.ts";
import { talkingModel } from "../support/talking-model.ts";

/*
 * Followers of a run whose answer is larger than what may be unsent to one of them. The connections are kept alive, so
 * that the end of a stream is the end that the stream itself says: the last chunk of its body.
 */

const MIB = 1024 * 1024;
const LONG = { timeout: 60_000 };
const LAST_CHUNK = "\r\n0\r\n\r\n";
const READ_BYTES = 1024;
/** The answer comes in so many pieces, with a rest between two. */
const WORDS = 16;
const REST_MS = 20;

const RUN = "run_elsewhere";
const STARTED: Entry = {
  seq: 1,
  at: 1,
  event: {
    type: "run.started",
    task: "grow",
    system: "",
    agent: "bunny",
    model: "none",
    hand: "local",
    workspace: "/",
    tools: [],
    budget: { steps: 1, actions: 1, tokens: 1, wallMs: 1 },
    thread: "t",
    history: [],
  },
};

/** How a follower reads: all that comes at once, or a little at a time with a pause after each. */
type Pace = "fast" | "slow";

const WIRES = [
  { name: "journal SSE", path: "/v1/runs/RUN/events", accept: "text/event-stream", end: '"type":"run.finished"' },
  { name: "journal NDJSON", path: "/v1/runs/RUN/events", accept: "application/x-ndjson", end: '"type":"run.finished"' },
  { name: "agent SSE", path: "/agent/runs/RUN/events", accept: "text/event-stream", end: '"type":"done"' },
  { name: "agent NDJSON", path: "/agent/runs/RUN/events", accept: "application/x-ndjson", end: '"type":"result"' },
] as const;

interface Asked {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
}

function ask(daemon: DaemonProcess, { method = "GET", path, headers = {}, body }: Asked): Socket {
  const text = body === undefined ? "" : JSON.stringify(body);
  const all = {
    Host: "127.0.0.1",
    Authorization: `Bearer ${daemon.token}`,
    ...(body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": String(text.length) }),
    ...headers,
  };
  const lines = [`${method} ${path} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)];
  const socket = connect(Number(daemon.port), "127.0.0.1").pause();
  socket.on("error", () => undefined).write(`${lines.join("\r\n")}\r\n\r\n${text}`);
  return socket;
}

/** Everything of one answer up to the end that it says itself. */
async function whole(socket: Socket, pace: Pace = "fast"): Promise<string> {
  const pieces: string[] = [];
  let tail = "";
  const isWhole = (): boolean => tail.endsWith(LAST_CHUNK) || pieces[0]?.startsWith("HTTP/1.1 204") === true;
  let isOver = false;
  let wake = (): void => undefined;
  socket.setEncoding("latin1").on("readable", () => wake());
  socket.on("close", () => {
    isOver = true;
    wake();
  });
  while (!isWhole()) {
    const piece = (pace === "slow" ? (socket.read(READ_BYTES) ?? socket.read()) : socket.read()) as string | null;
    if (piece !== null) {
      pieces.push(piece);
      tail = (tail + piece).slice(-LAST_CHUNK.length);
    } else if (isOver) break;
    else await new Promise<void>((resolve) => (wake = resolve));
    if (pace === "slow") await new Promise(setImmediate);
  }
  socket.destroy();
  assert.ok(isWhole(), `the answer was cut off: …${pieces.at(-1)?.slice(-200)}`);
  return pieces.join("");
}

/** The body of an answer, without the marks of its chunks. */
function bodyOf(text: string): string {
  return text.slice(text.indexOf("\r\n\r\n") + 4).replaceAll(/(?:^|\r\n)[\da-f]+\r\n/g, "");
}

const seqsIn = (text: string): number[] => [...bodyOf(text).matchAll(/"seq":(\d+)[,}]/g)].map(([, seq]) => Number(seq));
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** A daemon whose model says 1 MiB: a first piece, and the rest when it is told to go on. */
async function stand(t: { after(done: () => Promise<void>): void }): Promise<{
  readonly daemon: DaemonProcess;
  readonly home: string;
  readonly goOn: () => void;
}> {
  const word = "x".repeat(MIB / WORDS);
  const going = Promise.withResolvers<void>();
  const model = await fakeOpenAi(
    talkingModel(
      Array.from({ length: WORDS }, () => word),
      REST_MS,
      going.promise,
    ),
  );
  const stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  const daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  t.after(async () => {
    await daemon[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
    await model.close();
  });
  return { daemon, home: stage.home, goOn: going.resolve };
}

test(
  "G6 the stream of a run ends when its follower has the last entry, however large it is and however slowly it is read",
  LONG,
  async (t) => {
    const { daemon, goOn } = await stand(t);
    const run = await daemon.run("Say much.");
    const follow = async (pace: Pace): Promise<string[]> =>
      Promise.all(
        WIRES.map(({ path, accept }) =>
          whole(ask(daemon, { path: path.replace("RUN", run), headers: { Accept: accept } }), pace),
        ),
      );
    const before = [follow("fast"), follow("slow")];
    await until("all of them follow", async () => (await daemon.streams()) === 2 * WIRES.length);
    const first = ask(daemon, { path: `/v1/runs/${run}/events` }).resume();
    goOn();
    for (let bytes = 0; bytes < MIB / WORDS;) bytes += ((await once(first, "data")) as [Buffer])[0].length;
    const during = [follow("fast"), follow("slow")];
    const all = await Promise.all([...before, ...during]);
    const { seq } = (await (await daemon.ask(`/v1/runs/${run}`)).json()) as { readonly seq: number };
    const late = await Promise.all([follow("fast"), follow("slow")]);
    for (const texts of [...all, ...late])
      for (const [index, { name, end }] of WIRES.entries()) {
        assert.ok(bodyOf(texts[index]!).includes(end), `${name} tells the end`);
        if (name !== "agent SSE") assert.deepEqual(seqsIn(texts[index]!), range(1, seq), `${name} tells every entry`);
      }
    await until("no follower is left", async () => (await daemon.streams()) <= 1);
    first.destroy();
  },
);

test(
  "G6 a follower that has the last entry already is told so at once, and a cursor beyond it starts over and ends",
  LONG,
  async (t) => {
    const { daemon, goOn } = await stand(t);
    goOn();
    const run = await daemon.run("Say much.");
    await whole(ask(daemon, { path: `/v1/runs/${run}/events` }));
    const { seq } = (await (await daemon.ask(`/v1/runs/${run}`)).json()) as { readonly seq: number };
    for (const { name, path, accept, end } of WIRES) {
      const at = path.replace("RUN", run);
      const ended = [
        { path: `${at}?after=${seq}`, headers: { Accept: accept } },
        { path: at, headers: { Accept: accept, "Last-Event-ID": String(seq) } },
      ];
      for (const asked of ended) assert.match(await whole(ask(daemon, asked)), /^HTTP\/1\.1 204 /, name);
      const beyond = bodyOf(await whole(ask(daemon, { path: `${at}?after=${seq + 3}`, headers: { Accept: accept } })));
      assert.match(beyond.slice(0, 400), /resync/, name);
      assert.ok(beyond.includes(end), name);
      const last = bodyOf(await whole(ask(daemon, { path: `${at}?after=${seq - 1}`, headers: { Accept: accept } })));
      assert.ok(last.includes(end), name);
    }
  },
);

test(
  "G6 a run that another process drives ends for its followers with the entry that comes from there",
  LONG,
  async (t) => {
    const { daemon, home } = await stand(t);
    const { journal } = await openStore("sqlite", join(home, "journal.db"));
    t.after(() => journal.close());
    const { lease } = await journal.create({ id: RUN, owner: LOCAL_OWNER, thread: "t" }, [STARTED], thisHolder());
    const following = WIRES.map(({ path, accept }) =>
      whole(ask(daemon, { path: path.replace("RUN", RUN), headers: { Accept: accept } })),
    );
    await until("all of them follow", async () => (await daemon.streams()) === WIRES.length);
    const event: Event = { type: "run.finished", result: "x".repeat(2 * MIB) };
    await journal.append(lease!, [{ seq: 2, at: 2, event }]);
    for (const [index, text] of (await Promise.all(following)).entries())
      assert.ok(bodyOf(text).includes(WIRES[index]!.end), WIRES[index]!.name);
  },
);

test("G6 an answer of 1 MiB ends on every wire that gives it with the request", LONG, async (t) => {
  const { daemon, goOn } = await stand(t);
  goOn();
  const post = async (path: string, body: unknown): Promise<{ readonly [name: string]: string }> =>
    (await daemon.ask(path, { method: "POST", body: JSON.stringify(body) })).json() as never;
  const { session_id } = await post("/agent/sessions", {});
  const { thread_uuid } = await post("/v1/conversations", {});
  const messages = [{ role: "user", content: "Say much." }];
  const generate = { path: "/agent/generate", body: { session_id, prompt: "Say much." } };
  const chat = { path: "/v1/chat/completions", body: { model: "bunny", stream: true, messages } };
  const talk = { path: `/v1/conversations/${thread_uuid}/messages`, body: { model: "bunny", stream: true, messages } };
  const kinds = [
    { ...generate, accept: "text/event-stream", end: '"type":"done"' },
    { ...generate, accept: "application/x-ndjson", end: '"type":"result"' },
    { ...chat, accept: "text/event-stream", end: "data: [DONE]" },
    { ...chat, accept: "application/x-ndjson", end: '"type":"result"' },
    { ...talk, accept: "text/event-stream", end: "data: [DONE]" },
  ];
  for (const pace of ["fast", "slow"] as const)
    for (const { path, body, accept, end } of kinds) {
      const text = await whole(ask(daemon, { method: "POST", path, body, headers: { Accept: accept } }), pace);
      assert.ok(bodyOf(text).includes(end), `${path} as ${accept}, ${pace}`);
    }
});
