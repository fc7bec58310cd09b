// @ts-nocheck The packages are installed when the tests are first run.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const ABOUT = { name: "vidro-tests", version: "1.0.0" };

/**
 * The official client of the present line, over HTTP.
 * @returns {Promise<any>}
 */
export async function connectMcp(url, token) {
  const client = new Client(ABOUT, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: headersWith(token) }));
  return client;
}

/**
 * The official client of the line before, which begins with a handshake.
 * @returns {Promise<any>}
 */
export async function connectEarlierMcp(url, token) {
  const client = new EarlierClient(ABOUT);
  await client.connect(new EarlierTransport(new URL(url), { requestInit: headersWith(token) }));
  return {
    listTools: () => client.listTools(),
    callTool: (call, options) => client.callTool(call, undefined, options),
    close: () => client.close(),
  };
}

/**
 * The official client of the present line, over the stdin and stdout of a command.
 * @param {any} command
 * @returns {Promise<any>}
 */
export async function connectStdioMcp({ argv, env, cwd }) {
  const [command, ...args] = argv;
  const client = new Client(ABOUT, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StdioClientTransport({ command, args, env, cwd, stderr: "inherit" }));
  return client;
}

function headersWith(token) {
  return { headers: { authorization: `Bearer ${token}` } };
}
