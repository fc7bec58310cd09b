import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Fault, MOUNT_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { META_KEYS, MODERN_REVISION, RPC_CODES } from "@vidro/core/wire/mcp";
import type { ChannelRequest, ServerChannel } from "./channel.ts";
import { serverRefusal } from "./channel.ts";
import { ServerClient } from "./server-client.ts";

type Answers = { readonly [method: string]: (request: ChannelRequest) => JsonObject };

/** A server with these answers; refuses every other method. */
function channelWith(answers: Answers) {
  const asked: ChannelRequest[] = [];
  const told: string[] = [];
  const agreed: string[] = [];
  const channel: ServerChannel = {
    isOpen: true,
    takeChange: () => false,
    async ask(request) {
      asked.push(request);
      const { [request.method]: answer } = answers;
      if (answer !== undefined) return answer(request);
      throw serverRefusal("s", { code: RPC_CODES.method, message: "unknown" });
    },
    tell: async (method) => void told.push(method),
    agree: (revision) => void agreed.push(revision),
    close: async () => undefined,
  };
  return { channel, asked, told, agreed };
}

const signal = new AbortController().signal;
const MODERN: Answers = { "server/discover": () => ({ supportedVersions: [MODERN_REVISION] }) };
const HANDSHAKE: Answers = { initialize: () => ({ protocolVersion: "2025-06-18" }) };
const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, inputSchema: { type: "object" }, ...more });

describe("agreeing with a server on a revision", () => {
  it("takes the newest one from a server that knows it, and each request names it", async () => {
    const { channel, asked, told, agreed } = channelWith({ ...MODERN, "tools/list": () => ({ tools: [] }) });
    const client = await ServerClient.connect(channel, "1.2");
    await client.listTools(signal);
    assert.deepEqual(agreed, [MODERN_REVISION]);
    assert.deepEqual(told, []);
    assert.deepEqual(asked[1]?.params["_meta"], {
      [META_KEYS.revision]: MODERN_REVISION,
      [META_KEYS.client]: { name: "vidro-hand", version: "1.2" },
      [META_KEYS.capabilities]: {},
    });
  });

  it("begins with a handshake where the question is unknown, and takes the server's revision", async () => {
    const { channel, asked, told, agreed } = channelWith({ ...HANDSHAKE, "tools/list": () => ({ tools: [] }) });
    const client = await ServerClient.connect(channel, "1.2");
    await client.listTools(signal);
    assert.deepEqual(
      asked.map(({ method }) => method),
      ["server/discover", "initialize", "tools/list"],
    );
    assert.deepEqual(agreed, [MODERN_REVISION, "2025-11-25", "2025-06-18"]);
    assert.deepEqual(told, ["notifications/initialized"]);
    assert.equal("_meta" in (asked[2]?.params ?? {}), false);
  });

  it("begins with a handshake where the server knows the question, but not this revision", async () => {
    const { channel, told } = channelWith({
      ...HANDSHAKE,
      "server/discover": () => ({ supportedVersions: ["2030-01-01"] }),
    });
    await ServerClient.connect(channel, "1");
    assert.deepEqual(told, ["notifications/initialized"]);
  });

  it("takes a refusal that only the newest revision has for a server of it", async () => {
    const refuse = (): JsonObject => {
      throw serverRefusal("s", { code: RPC_CODES.capability, message: "no" });
    };
    const { channel, asked } = channelWith({ ...HANDSHAKE, "server/discover": refuse });
    await ServerClient.connect(channel, "1");
    assert.equal(asked.length, 1);
  });

  it("refuses a server whose revision is not known here, and names it", async () => {
    for (const protocolVersion of ["2031-01-01", 5, null]) {
      const { channel } = channelWith({ initialize: () => ({ protocolVersion }) });
      await assert.rejects(ServerClient.connect(channel, "1"), {
        code: "TOOL_FAILED",
        message: `The server speaks the revision ${JSON.stringify(protocolVersion)}, which is not known here.`,
      });
    }
  });
});

describe("the list of a server's tools", () => {
  const listed = async (pages: (cursor: string | undefined) => JsonObject) => {
    const { channel, asked } = channelWith({
      ...MODERN,
      "tools/list": ({ params }) => pages(params["cursor"] as string | undefined),
    });
    const client = await ServerClient.connect(channel, "1");
    return { tools: await client.listTools(signal), requests: asked.length - 1 };
  };

  it("is read page by page", async () => {
    const { tools, requests } = await listed((cursor) =>
      cursor === undefined ? { tools: [tool("a")], nextCursor: "2" } : { tools: [tool("b", { description: "B." })] },
    );
    assert.deepEqual(tools, [
      { name: "a", description: "", inputSchema: { type: "object" }, annotations: {} },
      { name: "b", description: "B.", inputSchema: { type: "object" }, annotations: {} },
    ]);
    assert.equal(requests, 2);
  });

  it("ends after as many pages and tools as the bounds allow", async () => {
    const endless = await listed(() => ({ tools: [tool("a")], nextCursor: "more" }));
    assert.equal(endless.requests, MOUNT_LIMITS.pages);
    const many = await listed(() => ({
      tools: Array.from({ length: 1000 }, (_, index) => tool(`t${index}`)),
      nextCursor: "more",
    }));
    assert.equal(many.tools.length, MOUNT_LIMITS.tools);
    assert.equal(many.requests, 1);
  });

  it("leaves out what is no definition of a tool", async () => {
    const { tools } = await listed(() => ({
      tools: [
        null,
        "a",
        { name: "no_schema" },
        { name: 5, inputSchema: {} },
        tool("x".repeat(MOUNT_LIMITS.nameChars + 1)),
        tool("words", { description: 5 }),
        tool("large", { inputSchema: { d: "x".repeat(MOUNT_LIMITS.schemaBytes) } }),
        tool("odd_annotations", { annotations: "read-only" }),
        tool("good"),
      ],
    }));
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["odd_annotations", "good"],
    );
    assert.deepEqual(tools[0]?.annotations, {});
  });

  it("is empty for an answer without a list", async () => {
    for (const answer of [{}, { tools: {} }, { tools: null }]) assert.deepEqual((await listed(() => answer)).tools, []);
  });
});

describe("a call of a server's tool", () => {
  const READ = { name: "read", description: "", annotations: {}, inputSchema: { properties: {} } };

  it("sends the arguments, and mirrors the request in headers for a server of the newest revision", async () => {
    const inputSchema = { properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    const answers = { "tools/call": (): JsonObject => ({ content: [] }) };
    const modern = channelWith({ ...MODERN, ...answers });
    const client = await ServerClient.connect(modern.channel, "1");
    await client.callTool({ ...READ, inputSchema }, { region: "eu" }, signal);
    const call = modern.asked.at(-1);
    assert.deepEqual([call?.params["name"], call?.params["arguments"]], ["read", { region: "eu" }]);
    assert.equal(call?.headers?.["mcp-param-region"], "eu");
    const older = channelWith({ ...HANDSHAKE, ...answers });
    await (await ServerClient.connect(older.channel, "1")).callTool({ ...READ, inputSchema }, { region: "eu" }, signal);
    assert.deepEqual(older.asked.at(-1)?.headers, {});
  });

  it("that the server leaves incomplete fails: a hand gives no more input", async () => {
    const { channel } = channelWith({ ...MODERN, "tools/call": () => ({ resultType: "input_required" }) });
    const client = await ServerClient.connect(channel, "1");
    await assert.rejects(client.callTool(READ, {}, signal), { code: "TOOL_FAILED", message: /not complete/ });
  });

  it("passes on what the channel says of it", async () => {
    const lost = (): JsonObject => {
      throw new Fault("OUTCOME_UNKNOWN", "cut");
    };
    const { channel } = channelWith({ ...MODERN, "tools/call": lost });
    const client = await ServerClient.connect(channel, "1");
    await assert.rejects(client.callTool(READ, {}, signal), { code: "OUTCOME_UNKNOWN" });
  });
});
