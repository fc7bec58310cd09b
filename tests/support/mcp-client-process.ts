import { Fault } from "@vidro/core";
import { signIn } from "../../packages/hands/src/mcp/oauth-sign-in.ts";
import { ServerMount } from "../../packages/hands/src/mcp/server-mount.ts";

/*
 * The client of a hand as the official checks start it: it connects to the server whose address is its last word, and
 * calls each of its tools, with the arguments that the check names.
 */

const { MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const url = process.argv.at(-1) ?? "";
const { MCP_CONFORMANCE_SCENARIO: scenario = "" } = process.env;
let token: string | undefined;
if (scenario.startsWith("auth/")) {
  const open = (link: string): void => void fetch(link).catch(() => undefined);
  token = (await signIn(url, { open, signal: AbortSignal.timeout(10_000) })).accessToken;
}
const place = { workspace: ".", env: {}, tokens: { find: async () => token } };
const mount = new ServerMount({ name: "checked", effects: new Map(), url, headers: {} }, place, "1.0.0");
const tools = await mount.tools();
const { toolCalls = [] } = JSON.parse(context) as { toolCalls?: { name: string; arguments: object }[] };
const [first] = tools;
for (const tool of tools) {
  const named = toolCalls.find(({ name }) => name === tool.name)?.arguments;
  const input = named ?? (tool.name === "add_numbers" ? { a: 5, b: 3 } : { schema: first?.inputSchema ?? {} });
  const found = await mount.find(tool.name);
  await found?.call({ ...input }, AbortSignal.timeout(10_000)).catch((thrown: unknown) => {
    // Some checks list tools that they do not serve.
    if (!(thrown instanceof Fault) || thrown.detail === undefined) throw thrown;
  });
}
await mount.close();
