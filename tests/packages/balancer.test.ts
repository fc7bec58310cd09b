import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { connect } from "node:tls";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { makeCertificate } from "../support/certificate.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { blocksOf } from "../support/doc-page.ts";
import { freePort } from "../support/peer-process.ts";
import { startPostgres } from "../support/postgres-server.ts";

/* The configurations of docs/how-to/scale.md, as they are written but for names and ports: nginx with traffic, and systemd. */

const ROOT = resolve(import.meta.dirname, "../..");
const blocks = blocksOf(readFileSync(join(ROOT, "docs/how-to/scale.md"), "utf8")).map(({ text }) => text);
const folder = mkdtempSync(join(tmpdir(), "vidro-balancer-"));
const { cert, key } = makeCertificate(folder, "127.0.0.1");
after(() => rmSync(folder, { recursive: true, force: true }));

/** The answer to a request by way of the balancer, from its first bytes on. */
async function ask(
  port: number,
  path: string,
  { token, body }: { token?: string; body?: object } = {},
): Promise<string> {
  const headers = {
    host: "vidro.example",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const sent = request({ port, path, method: body === undefined ? "GET" : "POST", headers, rejectUnauthorized: false });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [NodeJS.ReadableStream];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}

test("nginx as the page has it takes clients and hands to two brains, streams as they come, and goes on with one of them", async () => {
  const server = await startPostgres();
  after(() => server.close());
  const VIDRO_STORE = server.storeUrl("balanced");
  const ports = await Promise.all(Array.from({ length: 6 }, () => freePort()));
  const [one = 0, two = 0, oneSouth = 0, twoSouth = 0, clients = 0, hands = 0] = ports;
  const brains: DaemonProcess[] = [];
  for (const [port, south] of [
    [one, oneSouth],
    [two, twoSouth],
  ]) {
    const stage = await Stage.set({ VIDRO_STORE, VIDRO_HOSTS: "vidro.example", NODE_EXTRA_CA_CERTS: cert });
    after(() => stage[Symbol.asyncDispose]());
    const doors = ["--southbound-port", `${south}`, "--southbound-host", "vidro.example"];
    const flags = ["--port", `${port}`, "--tls-cert", cert, "--tls-key", key, ...doors];
    const brain = await DaemonProcess.up(stage, { flags, node: [] });
    after(() => brain.end("SIGKILL"));
    brains.push(brain);
    const invited = await stage.run("hands", "invite", "--installed", "--json");
    assert.equal(invited.code, 0, invited.stderr);
  }
  const written = blocks.find((text) => text.includes("upstream brains")) ?? "";
  const configured = written
    .replaceAll("brain-1:3121", `127.0.0.1:${oneSouth}`)
    .replaceAll("brain-2:3121", `127.0.0.1:${twoSouth}`)
    .replaceAll("brain-1:3120", `127.0.0.1:${one}`)
    .replaceAll("brain-2:3120", `127.0.0.1:${two}`)
    .replace("listen 3121", `listen 127.0.0.1:${hands}`)
    .replace("listen 443 ssl", `listen 127.0.0.1:${clients} ssl`)
    .replace("/etc/nginx/vidro.pem", cert)
    .replace("/etc/nginx/vidro.key", key);
  const file = join(folder, "nginx.conf");
  const head = `load_module /usr/lib/nginx/modules/ngx_stream_module.so;\nuser root;\npid ${folder}/pid;\nevents {}\n`;
  writeFileSync(
    file,
    head + configured.replace("http {", `http {\n  access_log off;\n  client_body_temp_path ${folder}/body;`),
  );
  mkdirSync(join(folder, "body"), { recursive: true });
  const words = ["-c", file, "-e", join(folder, "error.log"), "-g", "daemon off;"];
  const checked = spawnSync("nginx", ["-t", ...words], { encoding: "utf8" });
  assert.equal(checked.status, 0, checked.stderr);
  const nginx = spawn("nginx", words, { stdio: "ignore" });
  after(() => void nginx.kill("SIGQUIT"));
  await until("it serves", () =>
    ask(clients, "/healthz").then(
      (text) => text.includes("alive") || text.includes("ok"),
      () => false,
    ),
  );

  const token = brains[0]?.token ?? "";
  const { id } = JSON.parse(await ask(clients, "/v1/runs", { token, body: { task: "uptime" } })) as {
    id: string;
  };
  const stream = await ask(clients, `/v1/runs/${id}/events`, { token });
  assert.match(stream, /run\.(finished|failed)/u);
  const socket = connect({ port: hands, host: "127.0.0.1", rejectUnauthorized: false, servername: "vidro.example" });
  await once(socket, "secureConnect");
  assert.notEqual(socket.getPeerCertificate().fingerprint256, undefined, "TLS of hands ends at a brain");
  socket.destroy();
  await brains[0]?.end("SIGKILL");
  for (let count = 0; count < 4; count += 1)
    assert.match(await ask(clients, `/v1/runs/${id}`, { token }), new RegExp(id, "u"));
});

test("the unit of the page is one that systemd takes", () => {
  const unit = blocks.find((text) => text.includes("[Unit]")) ?? "";
  const path = join(folder, "vidro.service");
  writeFileSync(path, unit.replace("/usr/local/bin/vidro", "/bin/true"));
  const { stderr, error } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
  if (error === undefined) assert.doesNotMatch(stderr, /vidro\.service/u);
});
