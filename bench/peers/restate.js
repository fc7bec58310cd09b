// @ts-nocheck
import { createServer } from "node:http2";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as restate from "@restatedev/restate-sdk";
import { assertLoopback, freePort } from "../contest/loopback.ts";
import { ANSWER, callAt, inputAt, OUTPUT, TASK, TOOL, wordsAt } from "../contest/script.ts";
import { server } from "./child.js";

/** The Restate server with its own defaults, and a handler in which each model call and each tool call is a `ctx.run`. */
export async function durable(folder) {
  const scripts = new Map();
  const [port, ingress] = [await freePort(), await freePort()];
  const endpoint = createServer(restate.createEndpointHandler({ services: [agentOver(scripts)], logger: () => {} }));
  await new Promise((resolve) => endpoint.listen(port, "127.0.0.1", resolve));
  assertLoopback(process.pid);
  const { end } = await restateServer(folder, ingress, `http://127.0.0.1:${port}`);
  let runs = 0;
  return {
    async run(steps, called) {
      runs += 1;
      const run = `run-${runs}`;
      scripts.set(run, { steps, called });
      if ((await post(`http://127.0.0.1:${ingress}/agent/run`, run)) !== ANSWER)
        throw new Error("The run did not come to its end.");
      scripts.delete(run);
    },
    async close() {
      await end();
      endpoint.close();
    },
  };
}

function agentOver(scripts) {
  const run = async (context, name) => {
    const { steps, called } = scripts.get(name);
    const messages = [{ role: "user", text: TASK }];
    for (let step = 1; ; step += 1) {
      const reply = await context.run("model", () => model(step, steps, called));
      messages.push(reply);
      if (reply.call === undefined) return reply.text;
      messages.push(await context.run("tool", () => ({ role: "tool", text: OUTPUT })));
    }
  };
  return restate.service({ name: "agent", handlers: { run } });
}

function model(step, steps, called) {
  called?.(step);
  if (step > steps) return { role: "assistant", text: ANSWER };
  const call = { id: callAt(step), tool: TOOL.name, input: inputAt(step) };
  return { role: "assistant", text: wordsAt(step), call };
}

async function restateServer(folder, ingress, endpoint) {
  const [node, admin] = [await freePort(), await freePort()];
  const { platform, arch } = process;
  const found = createRequire(import.meta.url).resolve(`@restatedev/restate-server-${platform}-${arch}/package.json`);
  const address = (port) => `127.0.0.1:${port}`;
  const started = await server(
    join(dirname(found), "bin", "restate-server"),
    ["--no-logo", "--base-dir", join(folder, "restate"), "--bind-ip", "127.0.0.1", "--bind-port", String(node)],
    {
      env: {
        ...process.env,
        RESTATE_ADMIN__BIND_ADDRESS: address(admin),
        RESTATE_INGRESS__BIND_ADDRESS: address(ingress),
        RESTATE_LISTEN_MODE: "tcp",
        RESTATE_ADVERTISED_HOST: "127.0.0.1",
        RESTATE_DISABLE_TELEMETRY: "true",
        DO_NOT_TRACK: "1",
        RESTATE_LOG_FILTER: "error",
      },
      // Ready when it knows our endpoint.
      probe: () => post(`http://${address(admin)}/deployments`, { uri: endpoint }),
    },
  );
  assertLoopback(started.pid);
  return started;
}

async function post(url, body) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} says ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
