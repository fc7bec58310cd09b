import { Fault, isObject, MOUNT_LIMITS } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { HANDSHAKE_REVISIONS, META_KEYS, mirroredHeaders, MODERN_REVISION, RPC_CODES } from "@vidro/core/wire/mcp";
import type { ServerChannel } from "./channel.ts";
import { parameterHeaders } from "./parameter-headers.ts";

/** A tool as its server defines it. */
export interface ForeignTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject;
}

/** Codes with which only a server of the revision without a handshake refuses. */
const MODERN_CODES: readonly Json[] = [RPC_CODES.headers, RPC_CODES.capability, RPC_CODES.revision];

/** A client of one server that has agreed on a revision. */
export class ServerClient {
  readonly #channel: ServerChannel;
  readonly #meta: JsonObject;

  private constructor(channel: ServerChannel, meta: JsonObject) {
    this.#channel = channel;
    this.#meta = meta;
  }

  /** Agrees on the newest revision that both speak: the server is asked, and one that does not know the question gets a handshake. */
  static async connect(channel: ServerChannel, version: string): Promise<ServerClient> {
    const about = { name: "vidro-hand", version };
    const meta = { [META_KEYS.revision]: MODERN_REVISION, [META_KEYS.client]: about, [META_KEYS.capabilities]: {} };
    const modern = new ServerClient(channel, { _meta: meta });
    if (await modern.#isModern()) return modern;
    channel.agree(HANDSHAKE_REVISIONS[0] ?? "");
    const signal = AbortSignal.timeout(MOUNT_LIMITS.openMs);
    const params = { protocolVersion: HANDSHAKE_REVISIONS[0] ?? "", capabilities: {}, clientInfo: about };
    const { protocolVersion } = await channel.ask({ method: "initialize", params, signal });
    if (typeof protocolVersion !== "string" || !HANDSHAKE_REVISIONS.includes(protocolVersion))
      throw new Fault(
        "TOOL_FAILED",
        `The server speaks the revision ${JSON.stringify(protocolVersion ?? null)}, which is not known here.`,
      );
    channel.agree(protocolVersion);
    await channel.tell("notifications/initialized", {});
    return new ServerClient(channel, {});
  }

  async #isModern(): Promise<boolean> {
    this.#channel.agree(MODERN_REVISION);
    try {
      const { supportedVersions } = await this.#ask(
        "server/discover",
        {},
        { signal: AbortSignal.timeout(MOUNT_LIMITS.probeMs) },
      );
      return Array.isArray(supportedVersions) && supportedVersions.includes(MODERN_REVISION);
    } catch (thrown) {
      const { detail } = thrown as Fault;
      return isObject(detail) && MODERN_CODES.includes(detail["rpc"] ?? null);
    }
  }

  /** The tools of the server, as many as the bound; those whose definition is no definition are left out. */
  async listTools(signal: AbortSignal): Promise<readonly ForeignTool[]> {
    const found: ForeignTool[] = [];
    let cursor: Json | undefined;
    for (let page = 0; page < MOUNT_LIMITS.pages && found.length < MOUNT_LIMITS.tools; page += 1) {
      const { tools, nextCursor } = await this.#ask("tools/list", cursor === undefined ? {} : { cursor }, { signal });
      const listed: readonly Json[] = Array.isArray(tools) ? tools.slice(0, MOUNT_LIMITS.listedTools) : [];
      found.push(...listed.flatMap((tool) => readTool(tool)));
      if (typeof nextCursor !== "string") break;
      cursor = nextCursor;
    }
    return found.slice(0, MOUNT_LIMITS.tools);
  }

  /** Calls a tool; its result as the server gives it. */
  async callTool({ name, inputSchema }: ForeignTool, input: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const headers = parameterHeaders(inputSchema, input);
    const result = await this.#ask("tools/call", { name, arguments: input }, { signal, headers });
    const { resultType = "complete" } = result;
    if (resultType !== "complete")
      throw new Fault("TOOL_FAILED", "The server wants input that a hand does not give; its call is not complete.");
    return result;
  }

  #ask(method: string, params: JsonObject, { signal, headers: more = {} }: AskOptions): Promise<JsonObject> {
    const headers = "_meta" in this.#meta ? { ...mirroredHeaders(method, params), ...more } : {};
    return this.#channel.ask({ method, params: { ...params, ...this.#meta }, headers, signal });
  }
}

interface AskOptions {
  readonly signal: AbortSignal;
  /** Headers besides those that mirror every request. */
  readonly headers?: { readonly [name: string]: string };
}

function readTool(tool: Json): readonly ForeignTool[] {
  if (!isObject(tool)) return [];
  const { name, description = "", inputSchema, annotations = {} } = tool;
  if (typeof name !== "string" || name.length > MOUNT_LIMITS.nameChars || typeof description !== "string") return [];
  if (!isObject(inputSchema) || JSON.stringify(inputSchema).length > MOUNT_LIMITS.schemaBytes) return [];
  return [{ name, description, inputSchema, annotations: isObject(annotations) ? annotations : {} }];
}
