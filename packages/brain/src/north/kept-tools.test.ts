import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptTools } from "../catalog/kept-tools.ts";
import type { RouteCall } from "../http/route.ts";
import { memoryStore } from "../stores/memory.ts";
import { keptToolsSurface } from "./kept-tools.ts";

const TOOL = { name: "disk", description: "d", parameters: { type: "object" }, idempotent: false, argv: ["df"] };

/** The answer of a route to a caller with these scopes. */
async function ask(keptTools: KeptTools, request: string, [owner, ...scopes]: readonly [string, ...string[]]) {
  const { routes } = keptToolsSurface({ keptTools });
  const route = routes.find(({ method, path }) => `${method} ${path}` === request);
  assert.ok(route !== undefined);
  const caller = { owner, scopes: new Set(scopes), admin: scopes.includes("admin") };
  const call = { params: { tool: "disk.t1" }, query: { limit: "10" }, caller } as unknown as RouteCall;
  return ((await route.handle(call)) as { readonly json: unknown }).json;
}

test("an owner sees and removes its own approved tools, and an administrator those of all", async () => {
  const tools = new KeptTools(memoryStore().records);
  const kept = { tool: TOOL, by: "ana", at: 7, source: { run: "run_1", seq: 4 } };
  await tools.keep({ owner: "ana", thread: "t1" }, kept);
  const { idempotent: _, ...shown } = TOOL;
  const { tool: __, ...about } = kept;
  const row = { ...shown, ...about, id: "disk.t1", owner: "ana", thread: "t1" };
  const one = "/v1/tools/proposed/{tool}";
  assert.deepEqual(await ask(tools, "GET /v1/tools/proposed", ["ana", "runs"]), { tools: [row] });
  assert.deepEqual(await ask(tools, "GET /v1/tools/proposed", ["bob", "runs"]), { tools: [] });
  assert.deepEqual(await ask(tools, "GET /v1/tools/proposed", ["root", "admin"]), { tools: [row] });
  assert.deepEqual(await ask(tools, `GET ${one}`, ["ana", "runs"]), row);
  for (const request of [`GET ${one}`, `DELETE ${one}`, `POST ${one}/promote`])
    await assert.rejects(ask(tools, request, ["bob", "runs", "approve"]), { code: "NOT_FOUND" });
  assert.deepEqual(await ask(tools, `DELETE ${one}`, ["ana", "runs"]), row);
  assert.deepEqual(await tools.list(), []);
});

test("promoting an approved tool takes the right to approve", async () => {
  const tools = new KeptTools(memoryStore().records);
  await tools.keep({ owner: "ana", thread: "t1" }, { tool: TOOL, by: "ana", at: 7, source: { run: "r", seq: 4 } });
  const promote = "POST /v1/tools/proposed/{tool}/promote";
  await assert.rejects(ask(tools, promote, ["ana", "runs"]), { code: "FORBIDDEN" });
  assert.equal((await tools.list())[0]?.thread, "t1");
  await ask(tools, promote, ["ana", "runs", "approve"]);
  assert.deepEqual(
    (await tools.list()).map(({ id, thread }) => [id, thread]),
    [["disk", undefined]],
  );
});
