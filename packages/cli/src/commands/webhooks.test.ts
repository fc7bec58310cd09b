import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

interface Message {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers with these statuses, and then with 200. */
async function receiver(...statuses: readonly number[]) {
  const messages: Message[] = [];
  let told = (): void => undefined;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      messages.push({ headers: request.headers, body });
      response.writeHead(statuses[messages.length - 1] ?? 200).end();
      told();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    messages,
    async has(count: number): Promise<void> {
      while (messages.length < count) await new Promise<void>((resolve) => (told = resolve));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function typeOf({ body }: Message): unknown {
  return (JSON.parse(body) as { type: string }).type;
}

test("a webhook gets the end of a run, signed, and again under the same id when it was not taken, also from the next daemon", async () => {
  await using stage = await Stage.set();
  await using hook = await receiver(500, 503);
  const added = await stage.run("webhooks", "add", hook.url);
  assert.equal(added.code, 0, added.stderr);
  const secret = added.stdout.trim();
  {
    await using daemon = await up(stage);
    await stage.run("run", "how much disk is free?");
    await hook.has(1);
    await daemon.kill();
  }
  // The second attempt is five seconds after the first, whichever daemon is up then.
  await using _ = await up(stage);
  await hook.has(2);
  const [first, second] = hook.messages as [Message, Message];
  assert.equal(typeOf(first), "run.finished");
  assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = second.headers;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key)
    .update(`${String(id)}.${String(at)}.${second.body}`)
    .digest("base64");
  assert.equal(signature, `v1,${expected}`);
  const { data } = JSON.parse(second.body) as { data: { run_id: string; seq: number; task: string } };
  assert.match(data.run_id, /^run_/);
  assert.equal(data.task, "how much disk is free?");
});

test("a receiver that is gone for good is removed; others, and other events, are not touched", async () => {
  await using stage = await Stage.set();
  await using gone = await receiver(410);
  await using kept = await receiver();
  await stage.run("webhooks", "add", gone.url);
  await stage.run("webhooks", "add", kept.url, "--events", "run.started,run.finished");
  await using _ = await up(stage);
  await stage.run("run", "how much disk is free?");
  await kept.has(2);
  assert.deepEqual(kept.messages.map(typeOf), ["run.started", "run.finished"]);
  let rows = lines((await stage.run("webhooks", "list", "--json")).stdout);
  while (rows.length > 1) rows = lines((await stage.run("webhooks", "list", "--json")).stdout);
  assert.deepEqual([rows[0]?.["url"], rows[0]?.["secret"]], [kept.url, undefined]);
});

test("an address or an event that is none is refused", async () => {
  await using stage = await Stage.set();
  for (const args of [["ftp://x"], ["nowhere"], ["http://127.0.0.1:9", "--events", "run.exploded"]])
    assert.equal((await stage.run("webhooks", "add", ...args)).code, 2, args.join(" "));
  assert.equal((await stage.run("webhooks", "remove", "nope")).code, 3);
});
