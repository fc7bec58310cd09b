import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { JsonObject } from "@vidro/core";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import type { RunningDaemon } from "../../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { readFrameData } from "../support/agent-server.ts";
import { startChromium } from "../support/chromium.ts";
import { AGENT_SSE } from "../support/resumable-wires.ts";

/* A real browser in front of a real daemon: its own EventSource reads the agent's stream, and nothing helps it. */

const TASK = 'run "echo 1 >> effects.txt" and "echo 2 >> effects.txt"';

/** Collects what an EventSource gives, until the server tells it that there is no more. */
const PAGE = `<!doctype html><title>open</title><script>
  const seen = [];
  const source = new EventSource("/events");
  source.onmessage = ({ data, lastEventId }) => seen.push({ ...JSON.parse(data), lastEventId });
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) document.title = "over"; };
</script>`;

interface Seen {
  readonly seq?: number;
  readonly type: string;
  readonly lastEventId: string;
}

/** What the browser asked for, and what it was told. */
interface Asked {
  readonly cursor: string | undefined;
  readonly status: number;
}

function ask({ url, token }: RunningDaemon, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  if (init.body !== undefined) headers.set("content-type", "application/json");
  return fetch(url + path, { ...init, headers });
}

/** The page's own server: it adds the token that an EventSource cannot send, and halts inside the first question. */
class Front implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** Resolves to the id of the last event that was passed on whole, and to what breaks the connection off. */
  readonly halted = Promise.withResolvers<{ readonly id: string; readonly cut: () => void }>();
  readonly #server = createServer((request, response) => {
    if (request.url === "/events") this.#pass(request, response).catch(() => response.destroy());
    else response.setHeader("content-type", "text/html").end(request.url === "/" ? PAGE : "");
  });
  readonly #daemon: RunningDaemon;
  readonly #run: string;

  constructor(daemon: RunningDaemon, run: string) {
    this.#daemon = daemon;
    this.#run = run;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const cursor = request.headers["last-event-id"];
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const answer = await ask(this.#daemon, `/agent/runs/${this.#run}/events`, {
      headers: {
        accept: request.headers.accept ?? "",
        ...(typeof cursor === "string" ? { "last-event-id": cursor } : {}),
      },
      signal: gone.signal,
    });
    const isFirst = this.asked.push({ cursor: cursor?.toString(), status: answer.status }) === 1;
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    let text = "";
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString("latin1");
      const question = isFirst ? text.indexOf('"type":"ask"') : -1;
      if (question === -1) {
        response.write(chunk);
        continue;
      }
      response.write(chunk.slice(0, Math.max(0, question - (text.length - chunk.length))));
      const whole = text.slice(0, text.lastIndexOf("\n\n", question));
      const [, id = ""] = /.*^id: (\d+)$/ms.exec(whole) ?? [];
      return this.halted.resolve({ id, cut: () => response.destroy() });
    }
    response.end();
  }
}

/** Says yes until the run is over. */
async function answered(daemon: RunningDaemon, run: string): Promise<void> {
  await readFrameData(await ask(daemon, `/v1/runs/${run}/events?live=false`), (entry) => {
    const event = entry["event"] as JsonObject;
    if (event["type"] !== "question.asked") return undefined;
    const body = JSON.stringify({ answer: "yes", question: event["id"] });
    return ask(daemon, `/v1/runs/${run}/answers`, { method: "POST", body });
  });
}

async function seenBy(page: Page): Promise<readonly Seen[]> {
  await page.waitForFunction(`document.title === "over"`);
  return page.evaluate<Seen[]>("seen");
}

test("000-24 Chromium's EventSource resumes by Last-Event-ID after a cut and gets every event that is kept exactly once", async () => {
  await using stage = await Stage.set();
  await using daemon = await up(stage);
  const made = await ask(daemon, "/v1/runs", { method: "POST", body: JSON.stringify({ task: TASK }) });
  const { id: run } = (await made.json()) as { id: string };
  await using front = new Front(daemon, run);
  await using browser = await startChromium();
  const page = await browser.newPage();
  await page.goto(await front.listen());
  const { id, cut } = await front.halted.promise;
  // A browser drops what it has not read when a connection breaks.
  await page.waitForFunction(`seen.some(({ lastEventId }) => lastEventId === "${id}")`);
  cut();
  await answered(daemon, run);
  const seen = await seenBy(page);

  const kept = seen.filter(({ seq }) => seq !== undefined);
  const whole = await Array.fromAsync(AGENT_SSE.kept(await ask(daemon, `/agent/runs/${run}/events`)));
  assert.deepEqual(
    kept,
    whole.map((data) => ({ ...data, lastEventId: String(data.seq) })),
  );
  assert.deepEqual(
    kept.filter(({ type }) => type === "ask" || type === "action" || type === "done").map(({ type }) => type),
    ["ask", "action", "ask", "action", "done"],
  );
  const [first, second, last, ...more] = front.asked;
  const question = kept.findIndex(({ type }) => type === "ask");
  assert.equal(kept[question - 1]?.lastEventId, id);
  assert.deepEqual(first, { cursor: undefined, status: 200 });
  assert.deepEqual(second, { cursor: id, status: 200 });
  assert.deepEqual(last, { cursor: String(kept.at(-1)?.seq), status: 204 });
  assert.deepEqual(more, []);
});
