import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/*
 * The least that can stand before a model: bytes go through as they come. With a folder it first writes as much as
 * ours does before it calls the model, in one commit. It says its port on stdout.
 */

/** Of the run that begins, with what its agent knows and can do, and of the intent to call the model. */
const COMMIT_BYTES = 8050;

const [model = "", folder] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const write = folder === undefined ? () => undefined : durably(folder);

function durably(where: string): () => void {
  const database = new DatabaseSync(join(where, "pipe.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE entry (at INTEGER, body TEXT)");
  const insert = database.prepare("INSERT INTO entry VALUES (?, ?)");
  const body = "x".repeat(COMMIT_BYTES);
  return () => void insert.run(Date.now(), body);
}

const server = createServer((asked, response) => {
  write();
  const { method, headers, url = "" } = asked;
  const asking = request(
    `${model}${url}`,
    { agent, ...(method === undefined ? {} : { method }), headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  asked.pipe(asking);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
