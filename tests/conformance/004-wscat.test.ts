import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { JsonObject } from "@vidro/core";
import { startExecutorServer } from "../support/executor-server.ts";
import { calls, text } from "../support/fake-openai.ts";

const WSCAT = fileURLToPath(new URL("../node_modules/wscat/bin/wscat", import.meta.url));

test("004-02 004-17 004-18 wscat, a client of others, plays the executor by hand", async (t) => {
  const read = calls({ id: "call-1", name: "read_file", input: '{"file_path":"main.py"}' });
  const end = await startExecutorServer(t, read, text("It prints 1."));
  const address = `${end.url.replace("http", "ws")}/executor`;
  const line = [process.execPath, WSCAT, "--no-color", "-c", address, "-H", `Authorization: Bearer ${end.token}`];
  // On a terminal, since it is only there that it says when it is connected.
  const child = spawn("script", ["-qfec", line.map((word) => `'${word}'`).join(" "), "/dev/null"]);
  t.after(() => void child.kill("SIGKILL"));
  const say = (type: string, payload: JsonObject): void =>
    void child.stdin.write(`${JSON.stringify({ type, payload })}\r`);
  const heard: string[] = [];
  for await (const shown of createInterface({ input: child.stdout })) {
    const [, json] = /< (\{.*\})/.exec(stripVTControlCharacters(shown)) ?? [];
    if (shown.includes("Connected"))
      say("handshake", { client_type: "cli", known_tools: ["ReadFile"], initial_prompt: "what does it do?" });
    if (json === undefined) continue;
    const { type, payload } = JSON.parse(json) as { type: string; payload: JsonObject };
    heard.push(type);
    if (type === "run_tool") {
      assert.deepEqual([payload["tool_name"], payload["parameters"]], ["ReadFile", { file_path: "main.py" }]);
      say("tool_result", { tool_id: payload["tool_id"] ?? "", status: "success", result: "print(1)" });
    }
    if (type !== "task_completed") continue;
    assert.equal(payload["summary"], "It prints 1.");
    break;
  }
  assert.deepEqual(
    heard.filter((type) => type === "handshake_ack" || type === "run_tool" || type === "task_completed"),
    ["handshake_ack", "run_tool", "task_completed"],
  );
});
