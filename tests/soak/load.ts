import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { runOf } from "../chaos/plan.ts";
import { taskOf } from "../chaos/model.ts";
import type { ChaosStand } from "../chaos/harness.ts";
import { PlannedClient } from "../chaos/planned-client.ts";
import { SeededRandom } from "../support/seeded-random.ts";

/* What a brain is asked by many at once for a long time: work, chats, looks at lists, visits that are cut short, rubbish. */

const RUNNERS = 10;
const STEPS = 2;
const WATCHERS = 3;
const LISTED = [
  "/v1/runs?limit=50",
  "/v1/hands",
  "/v1/agents",
  "/v1/tools",
  "/metrics",
  "/readyz",
  "/openapi.json",
] as const;
const SETTLE_MS = 20_000;
const RECENT = 50;
const HANDS = ["ws", "http", "tcp"] as const;
const HAND_EVERY_MS = 3000;

/** Many clients of one brain, until they are told to stop. */
export class Load {
  readonly counts = { runs: 0, unsettled: 0, visits: 0, chats: 0, lists: 0, rubbish: 0, reconnects: 0 };
  readonly #stand: ChaosStand;
  readonly #chance: SeededRandom;
  readonly #recent: string[] = [];
  #isOver = false;
  #keys = 0;

  constructor(stand: ChaosStand, seed: number) {
    this.#stand = stand;
    this.#chance = new SeededRandom(seed);
  }

  /** Goes on for so long; resolves when the last of them is gone. */
  async go(ms: number): Promise<void> {
    this.#isOver = false;
    const many = (count: number, work: () => Promise<void>): Promise<void>[] =>
      Array.from({ length: count }, () => this.#repeat(work));
    const all = [
      ...many(RUNNERS, () => this.#run()),
      ...many(WATCHERS, () => this.#visit()),
      ...many(1, () => this.#chat()),
      ...many(1, () => this.#list()),
      ...many(1, () => this.#rubbish()),
      ...many(1, () => this.#reconnect()),
    ];
    await pause(ms);
    this.#isOver = true;
    await Promise.all(all);
  }

  /** A request that was not answered is no news here: the next one shows whether anybody is there. */
  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await work().catch(() => undefined);
      this.#stand.model.forget();
      await pause(this.#chance.whole(0, 50));
    }
  }

  async #run(): Promise<void> {
    this.#keys += 1;
    const plan = runOf(this.#chance, { key: `s${this.#keys}`, atMs: 0, aborts: true });
    const steps = plan.steps.slice(0, STEPS).map((step) => ({ ...step, workMs: 0, thinkMs: 0 }));
    const visitor = new PlannedClient(this.#stand, { ...plan, steps });
    await visitor.begin();
    if (visitor.run !== undefined) this.#recent.push(visitor.run);
    if (this.#recent.length > RECENT) this.#recent.shift();
    const endsAt = performance.now() + SETTLE_MS;
    while (!visitor.isSettled && performance.now() < endsAt) await pause(20);
    if (!visitor.isSettled) this.counts.unsettled += 1;
    await visitor.leave();
    this.counts.runs += 1;
  }

  /** Follows a run for a moment and leaves in the middle of it. */
  async #visit(): Promise<void> {
    const run = this.#recent[this.#chance.whole(0, this.#recent.length - 1)];
    if (run === undefined) return;
    this.counts.visits += 1;
    const leave = AbortSignal.timeout(this.#chance.whole(1, 200));
    const path = this.#chance.happens(0.5) ? `/v1/runs/${run}/events` : `/agent/runs/${run}/events`;
    const response = await this.#stand.ask(path, { signal: leave });
    await response.text();
  }

  async #chat(): Promise<void> {
    this.counts.chats += 1;
    const content = taskOf({ ...runOf(this.#chance, { key: "chat", atMs: 0, aborts: false }), steps: [] });
    const body = { model: "bunny", stream: this.#chance.happens(0.5), messages: [{ role: "user", content }] };
    const response = await this.#stand.ask("/v1/chat/completions", { body, signal: AbortSignal.timeout(SETTLE_MS) });
    await response.text();
    await pause(100);
  }

  async #list(): Promise<void> {
    this.counts.lists += 1;
    const response = await this.#stand.ask(this.#chance.one(LISTED), { signal: AbortSignal.timeout(SETTLE_MS) });
    await response.text();
    await pause(50);
  }

  /** What no client of ours sends: half requests, wrong bodies, strange upgrades. */
  async #rubbish(): Promise<void> {
    this.counts.rubbish += 1;
    const { port, token } = this.#stand.address;
    const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
    const said = this.#chance.one([
      `POST /v1/runs HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"task":1`,
      `POST /v1/runs HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{"task"`,
      `GET /${"x".repeat(5000)} HTTP/1.1\r\n${head}\r\n`,
      `GET /executor HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `DELETE /v1/runs HTTP/1.1\r\n${head}\r\n`,
      "\u0016\u0003\u0001 not http at all\r\n\r\n",
    ]);
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.resume().write(said);
    await pause(this.#chance.whole(1, 60));
    socket.destroy();
  }

  async #reconnect(): Promise<void> {
    await pause(HAND_EVERY_MS);
    this.counts.reconnects += 1;
    await this.#stand.members[this.#chance.one(HANDS)].kill(this.#chance.whole(50, 300));
  }
}
