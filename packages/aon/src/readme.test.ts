import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventsIn, typesOf } from "./stage.fixture.ts";

const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const README = readFileSync(`${FOLDER}README.md`, "utf8");
const FLAGS = ["--conditions=vidro-source", "--input-type=module", "--eval"];

/** A block of code in the README, by what stands behind its language. */
function block(name: string): string {
  const code = README.split(`\`\`\`js ${name}\n`)[1]?.split("\n```")[0];
  assert.ok(code !== undefined, `The README has no ${name}.`);
  return code;
}

/** The commands of the README's shell blocks, without what they print. */
function commands(): string[] {
  const blocks = [...README.matchAll(/```sh\n(.*?)\n```/gs)].map(([, text = ""]) => text);
  return blocks.flatMap((text) => text.split("\n").filter((line) => !line.startsWith("#")));
}

/** The server of the README as a process of its own, once it listens. */
async function start() {
  const said = `${block("server.mjs")}\nserver.on("listening", () => console.log(server.address().port));`;
  const child = spawn(process.execPath, [...FLAGS, said], {
    cwd: FOLDER,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return {
    address: `127.0.0.1:${port.toString().trim()}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
    },
  };
}

const run = promisify(execFile);

/** What a command of the README prints, asked of this server. */
async function shell(command: string | undefined, address: string): Promise<string> {
  const text = (command ?? "")
    .replaceAll("127.0.0.1:3000", address)
    .replace("node_modules/.bin/aon", `${FOLDER}bin/aon`);
  return (await run("sh", ["-c", text])).stdout;
}

test("001-02, 001-21, 001-27: the README's plain client gets its JSON and a report of what was healed", async () => {
  await using server = await start();
  const out = await shell(commands()[0], server.address);
  assert.match(out, /^x-aon-report: count=4;healed=refresh_token\r$/im);
  assert.ok(out.endsWith('\r\n\r\n{"id":"usr_123","name":"Ana"}'));
});

test("001-09, 001-24, 001-29: the README's curious client watches the healing and sees no token", async () => {
  await using server = await start();
  const out = await shell(commands()[1], server.address);
  assert.deepEqual(typesOf(eventsIn(out)), ["status", "status", "intent_analysis", "healing", "healing", "result"]);
  assert.ok(!out.includes("expired-token") && !out.includes("fresh-token"));
});

test("001-22: the README's reader and its check work as they are written", async () => {
  await using server = await start();
  await shell(commands()[0], server.address);
  const env = { ...process.env, URL: `http://${server.address}/` };
  const client = await run(process.execPath, [...FLAGS, block("client.mjs")], { cwd: FOLDER, env });
  assert.deepEqual(client.stdout.trim().split("\n"), ["status", "status", "result"]);
  const list = await shell(commands()[2], server.address);
  const printed = README.split("node_modules/.bin/aon check http://127.0.0.1:3000/\n")[1]?.split("\n```")[0];
  assert.equal(list.trimEnd(), printed?.replaceAll(/^# /gm, ""));
});
