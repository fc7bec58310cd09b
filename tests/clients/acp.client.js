// @ts-nocheck The packages are installed when the tests are first run.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

/**
 * The official client as an editor: it starts the command, shows what comes and decides about permissions.
 * @param {any} command
 * @returns {any}
 */
export function openEditor({ argv, env, cwd, permit, files }) {
  const [program, ...words] = argv;
  const child = spawn(program, words, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const updates = [];
  const app = client({ name: "vidro-tests" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => permit(params));
  if (files?.read !== undefined)
    app.onRequest(methods.client.fs.readTextFile, async ({ params }) => ({ content: await files.read(params) }));
  if (files?.write !== undefined)
    app.onRequest(methods.client.fs.writeTextFile, async ({ params }) => (await files.write(params)) ?? {});
  const fs = { readTextFile: files?.read !== undefined, writeTextFile: files?.write !== undefined };
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  const agent = connection.agent;
  return {
    updates,
    initialize: () =>
      agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: { fs } }),
    begin: () => agent.request(methods.agent.session.new, { cwd, mcpServers: [] }),
    load: (sessionId) => agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] }),
    prompt: (sessionId, text, ...blocks) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }, ...blocks] }),
    cancel: (sessionId) => agent.notify(methods.agent.session.cancel, { sessionId }),
    async close() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      return gone;
    },
  };
}
