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
  tools: Promise<ReadonlyMap<string, ForeignTool>>;
  /** The last list did not come, so that the tools are not known. */
  isUnlisted: boolean;
}

/** A tool as its server defines it now, on the connection that has told so. */
export interface CurrentTool {
  readonly tool: ForeignTool;
  /** Calls it on that connection and no other: a server that was started again may mean something else by its name. */
  call(input: JsonObject, signal: AbortSignal): Promise<JsonObject>;
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
  async tools(): Promise<readonly ForeignTool[]> {
    return [...(await this.#listed()).tools.values()];
  }

  /** The tool of that name now; undefined when the server has none. */
  async find(name: string): Promise<CurrentTool | undefined> {
    const { client, tools } = await this.#listed();
    const tool = tools.get(name);
    return tool && { tool, call: (input, signal) => client.callTool(tool, input, signal) };
  }

  async close(): Promise<void> {
    const open = await this.#opening?.catch(() => undefined);
    await open?.channel.close();
  }

  /** The connection with its newest list: all that ask meanwhile wait for the same one, and none gets an older one. */
  async #listed(): Promise<{ readonly client: ServerClient; readonly tools: ReadonlyMap<string, ForeignTool> }> {
    const open = await this.#connected();
    if (open.channel.takeChange() || open.isUnlisted) {
      open.isUnlisted = false;
      open.tools = this.#list(open.client);
    }
    const listing = open.tools;
    try {
      return { client: open.client, tools: await listing };
    } catch (thrown) {
      if (open.tools === listing) open.isUnlisted = true;
      throw thrown;
    }
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
      const tools = await this.#list(client);
      return { channel, client, tools: Promise.resolve(tools), isUnlisted: false };
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
