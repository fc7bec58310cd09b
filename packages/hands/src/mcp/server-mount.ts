import { Fault, MOUNT_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { HttpChannel } from "./http-channel.ts";
import type { MountedServer } from "./mount-file.ts";
import { ServerClient } from "./server-client.ts";
import type { ForeignTool } from "./server-client.ts";
import type { ServerChannel } from "./channel.ts";
import { hasSoundMarks } from "./parameter-headers.ts";
import { openStdioChannel } from "./stdio-channel.ts";
import type { ServerPlace } from "./stdio-channel.ts";

/** A server with its connection, which is made again once it is lost. */
interface OpenServer {
  readonly channel: ServerChannel;
  readonly client: ServerClient;
  tools: ReadonlyMap<string, ForeignTool>;
}

/** One server of a hand, and its tools as it defines them now. */
export class ServerMount {
  readonly server: MountedServer;
  readonly #place: ServerPlace;
  readonly #version: string;
  #opening: Promise<OpenServer> | undefined;

  constructor(server: MountedServer, place: ServerPlace, version: string) {
    this.server = server;
    this.#place = place;
    this.#version = version;
  }

  /** The tools of the server now; it is connected to, and asked again when it has said that they changed. */
  async tools(): Promise<ReadonlyMap<string, ForeignTool>> {
    const open = await this.#connected();
    if (open.channel.takeChange()) open.tools = await this.#list(open.client);
    return open.tools;
  }

  /** Calls a tool as it was defined when its plan was made. */
  async call(tool: ForeignTool, input: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { client } = await this.#connected();
    return client.callTool(tool, input, signal);
  }

  async close(): Promise<void> {
    const open = await this.#opening?.catch(() => undefined);
    await open?.channel.close();
  }

  async #connected(): Promise<OpenServer> {
    const before = this.#opening;
    const known = await before?.catch(() => undefined);
    if (known?.channel.isOpen === true) return known;
    // Another call may have begun to connect meanwhile; a second server of its own would never be ended.
    if (this.#opening !== before) return this.#connected();
    this.#opening = this.#connect();
    return this.#opening;
  }

  async #connect(): Promise<OpenServer> {
    const { server } = this;
    const channel =
      "command" in server ? await openStdioChannel(server, this.#place) : new HttpChannel(server, this.#place.tokens);
    try {
      const client = await ServerClient.connect(channel, this.#version);
      return { channel, client, tools: await this.#list(client) };
    } catch (thrown) {
      await channel.close();
      // Nothing was called yet, so nothing can have had an effect.
      const { message } = thrown as Error;
      throw new Fault("TOOL_FAILED", `The MCP server ${server.name} is not ready: ${message}`, { cause: thrown });
    }
  }

  async #list(client: ServerClient): Promise<ReadonlyMap<string, ForeignTool>> {
    const found = await client.listTools(AbortSignal.timeout(MOUNT_LIMITS.openMs));
    const isHttp = "url" in this.server;
    return new Map(
      found.filter(({ inputSchema }) => !isHttp || hasSoundMarks(inputSchema)).map((tool) => [tool.name, tool]),
    );
  }
}
