import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Vidro } from "@vidro/client";
import type { Json, JsonObject } from "@vidro/core";
import { LOCAL_OWNER } from "../../packages/brain/src/auth/caller.ts";
import { HandRecords } from "../../packages/brain/src/south/register/hand-records.ts";
import { openStore } from "../../packages/brain/src/stores/stores.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { seedStore } from "../support/seed-store.ts";

/* Lists that are longer than one answer. */

const LONG = { timeout: 300_000 };
const RUNS = 20_000;
const THREADS = 20_000;
const AGENTS = 12;
const TOKENS = 10_050;
const TOKEN = { secretHash: "", scopes: ["runs"], expires_at: null, revoked: true };
const HANDS = ["a", "b", "c"];

async function fill(home: string): Promise<void> {
  await seedStore(
    home,
    Array.from({ length: RUNS }, (_, index) => ({
      id: `run_${index}`,
      thread: "t",
      task: `Task ${index}`,
      events: [],
    })),
  );
  const store = await openStore("sqlite", join(home, "journal.db"));
  const keep = (kind: string, id: string, body: JsonObject): Promise<unknown> =>
    store.records.put({ kind, id, owner: LOCAL_OWNER, body });
  const tokens = Array.from({ length: TOKENS }, (_, index) =>
    keep("token", `token-${index}`, { ...TOKEN, tokenId: `token-${index}` }),
  );
  const threads = Array.from({ length: THREADS }, (_, index) =>
    keep("thread", `thread-${index}`, { agent: "3f96722a-9e3d-8241-b545-cd0ea1b6ed37", tools: null, metadata: {} }),
  );
  await Promise.all([...tokens, ...threads]);
  const hands = new HandRecords(store.records);
  for (const name of HANDS)
    await hands.keep({ ...HAND, id: `hand-${name}`, name }, { epoch: 1, lastSeenAt: Date.now() });
  await store.close();
}

const HAND = { owner: LOCAL_OWNER, gateway: "agent-ws" as const, version: "1", workspace: "/", tools: [], tags: [] };

/** A list, how its items are found in an answer, and what names each of them. */
interface List {
  readonly path: string;
  readonly items: (json: Json) => readonly JsonObject[];
  readonly id: string;
  readonly limit: number;
}

const within =
  (name: string): List["items"] =>
  (json) =>
    (json as JsonObject)[name] as JsonObject[];
const bare: List["items"] = (json) => json as unknown as JsonObject[];
const LISTS: readonly List[] = [
  { path: "/v1/runs", items: within("runs"), id: "id", limit: 500 },
  { path: "/v1/conversations", items: bare, id: "thread_uuid", limit: 500 },
  { path: "/v1/agents", items: bare, id: "uuid", limit: 5 },
  { path: "/v1/models", items: within("data"), id: "id", limit: 5 },
  { path: "/v1/tools", items: bare, id: "name", limit: 5 },
  { path: "/v1/hands", items: within("hands"), id: "id", limit: 2 },
];

/** What all pages of a list hold, and how many there were. */
async function pages(daemon: DaemonProcess, { path, items, id, limit }: List): Promise<{ ids: Json[]; count: number }> {
  const ids: Json[] = [];
  for (let after: string | null = "", count = 1; ; count += 1) {
    const cursor = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const response = await daemon.ask(`${path}?limit=${limit}${cursor}`);
    assert.equal(response.status, 200, path);
    const found = items((await response.json()) as Json);
    ids.push(...found.map((item) => item[id] ?? null));
    after = response.headers.get("x-next-cursor");
    assert.ok(found.length === limit || after === null, `${path}: a page that is not the last one is full`);
    if (after === null) return { ids, count };
  }
}

test("G7 every list of the daemon comes page by page, each thing once and in order, to its end", LONG, async () => {
  await using stage = await Stage.set();
  await fill(stage.home);
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  for (let index = 0; index < AGENTS; index += 1)
    await daemon.ask("/v1/agents", { method: "POST", body: JSON.stringify({ name: `agent-${index}`, prompt: "x" }) });
  const expected: { readonly [path: string]: number } = { "/v1/runs": RUNS, "/v1/conversations": THREADS };
  for (const list of LISTS) {
    const { ids, count } = await pages(daemon, list);
    assert.equal(new Set(ids).size, ids.length, `${list.path} has nothing twice`);
    assert.ok(count > 1, `${list.path} has several pages`);
    if (expected[list.path] !== undefined) assert.equal(ids.length, expected[list.path], list.path);
    const first = await daemon.ask(list.path);
    const [one] = list.items((await first.json()) as Json);
    assert.equal(one?.[list.id], ids[0], `${list.path} begins alike without a limit`);
    assert.ok((await daemon.ask(`${list.path}?limit=1001`)).status >= 400, `${list.path} has a bound`);
    assert.equal((await daemon.ask(`${list.path}?after=nothing`)).status, 404, list.path);
  }
  const vidro = new Vidro({ url: daemon.url, token: daemon.token });
  assert.equal((await vidro.conversations.list()).length, THREADS);
  assert.equal((await vidro.list({ limit: RUNS + 5 })).length, RUNS);
  assert.equal((await vidro.list()).length, 100);
  const later = await vidro.list({ limit: 3, after: "run_10" });
  assert.deepEqual(
    later.map(({ id }) => id),
    ["run_9", "run_8", "run_7"],
  );
  const all = lines((await stage.run("runs", "list", "--json", "--limit", String(RUNS + 5))).stdout);
  assert.equal(all.length, RUNS);
  const rest = lines((await stage.run("runs", "list", "--json", "--after", "run_3")).stdout);
  assert.deepEqual(
    rest.map(({ run_id }) => run_id),
    ["run_2", "run_1", "run_0"],
  );
  const tokens = lines((await stage.run("tokens", "list", "--json")).stdout);
  assert.ok(tokens.length > TOKENS, `${tokens.length} tokens`);
});
