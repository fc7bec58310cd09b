// An MCP server on stdio whose file says, each time anew, which tools it has and how it misbehaves.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file = ""] = process.argv.slice(2);
appendFileSync(`${file}.pids`, `${process.pid}\n`);

/** @param {object} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

const script = () => JSON.parse(readFileSync(file, "utf8"));

/**
 * A list that fails as often as the file says, and counts that down.
 * @param {number} id
 */
function list(id) {
  const { failures = 0, filler = 0, ...rest } = script();
  if (failures > 0) {
    writeFileSync(file, JSON.stringify({ ...rest, filler, failures: failures - 1 }));
    return send({ id, error: { code: -32_603, message: "Not now." } });
  }
  const more = Array.from({ length: filler }, (_, at) => ({ name: `f${at}`, inputSchema: {} }));
  send({ id, result: { tools: [...rest.tools, ...more] } });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "scripted" },
      },
    });
  else if (method === "tools/list") list(id);
  else if (method === "tools/call") {
    appendFileSync(`${file}.calls`, `${params.name}\n`);
    const { next, result = { content: [{ type: "text", text: "done" }] } } = script();
    if (next !== undefined) {
      // It changes its mind before it answers, and says so.
      writeFileSync(file, JSON.stringify(next));
      send({ method: "notifications/tools/list_changed" });
    }
    send({ id, result });
  } else if (id !== undefined) send({ id, error: { code: -32_601, message: "There is no such method." } });
});
