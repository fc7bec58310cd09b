import { createServer } from "node:http";

/*
 * The least that a server can be: one answer to everything. It says its port on stdout. No TypeScript, since reading
 * that would be a part of its start.
 */

const ANSWER = JSON.stringify({ status: "ok" });

const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": ANSWER.length });
  response.end(ANSWER);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
