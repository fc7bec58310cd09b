import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { lines, Stage } from "../stage.fixture.ts";
import type { Line } from "../stage.fixture.ts";

async function rowOf(stage: Stage, id: string): Promise<{ readonly code: number | null; readonly row: Line }> {
  const { code, stdout } = await stage.run("doctor", "--json");
  const row = lines(stdout).find((line) => line["id"] === id);
  assert.ok(row !== undefined);
  return { code, row };
}

/** A server of TCP that takes connections and says nothing, until it is closed. */
async function listener(): Promise<AsyncDisposable & { readonly url: string; close(): Promise<void> }> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url: `http://127.0.0.1:${port}/v1`, close, [Symbol.asyncDispose]: close };
}

test("doctor fails on a store that a newer Vidro wrote, and leaves it as it is", async () => {
  await using stage = await Stage.set();
  await stage.run("run", "how much disk is free?");
  const path = join(stage.home, "journal.db");
  using database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 1000");
  const { code, row } = await rowOf(stage, "store");
  assert.deepEqual([code, row["status"]], [1, "fail"]);
  assert.match(
    String(row["summary"]),
    /^A newer Vidro wrote this store\. .*journal\.db has version 1000; this one knows/,
  );
  assert.match(String(row["fix"]), /VIDRO_HOME/);
  assert.equal(database.prepare("PRAGMA user_version").get()?.["user_version"], 1000);
});

test("doctor says whether a server listens where the model is", async () => {
  await using server = await listener();
  await using stage = await Stage.set({ VIDRO_MODEL: "qwen", VIDRO_MODEL_URL: server.url });
  const there = await rowOf(stage, "model");
  assert.deepEqual([there.code, there.row["status"]], [0, "ok"]);
  assert.match(String(there.row["summary"]), new RegExp(`^qwen decides, .*; a server listens at ${server.url}$`));
  await server.close();
  const gone = await rowOf(stage, "model");
  assert.deepEqual([gone.code, gone.row["status"]], [1, "fail"]);
  assert.match(String(gone.row["summary"]), new RegExp(`nothing listens at ${server.url}$`));
});

test("doctor only warns of a model that is down when another one answers in its place", async () => {
  await using server = await listener();
  await server.close();
  await using stage = await Stage.set({ VIDRO_MODEL: "ollama/qwen,offline", OLLAMA_HOST: new URL(server.url).host });
  const { code, row } = await rowOf(stage, "model");
  assert.deepEqual([code, row["status"]], [0, "warn"]);
  assert.match(String(row["summary"]), /nothing listens at /);
});

test("doctor calls no vendor: it says that a key is set, or which one is missing", async () => {
  await using keyed = await Stage.set({ VIDRO_MODEL: "openai/gpt-4.1", OPENAI_API_KEY: "not-a-real-key" });
  assert.match(String((await rowOf(keyed, "model")).row["summary"]), /its key is set, and was not tried$/);
  await using bare = await Stage.set({ VIDRO_MODEL: "openai/gpt-4.1" });
  const { code, row } = await rowOf(bare, "model");
  assert.deepEqual([code, row["status"]], [1, "fail"]);
  assert.match(String(row["summary"]), /set OPENAI_API_KEY/);
});

test("doctor names the MCP servers of the hand, and what is wrong with their file", async () => {
  await using stage = await Stage.set();
  await mkdir(stage.home, { mode: 0o700 });
  const file = join(stage.home, "mcp.json");
  await writeFile(
    file,
    JSON.stringify({ mcpServers: { files: { command: "true" }, web: { url: "http://127.0.0.1:1" } } }),
  );
  assert.match(String((await rowOf(stage, "mcp")).row["summary"]), /^2 MCP servers: files, web$/);
  await writeFile(file, '{"mcpServers": {"files": {}}}');
  const { code, row } = await rowOf(stage, "mcp");
  assert.deepEqual([code, row["status"]], [1, "fail"]);
  assert.match(String(row["summary"]), /mcp\.json: files needs a command or a url/);
});
