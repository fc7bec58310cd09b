import { join } from "node:path";
import { asFault, Fault, MOUNT_LIMITS } from "@vidro/core";
import type { JsonObject, OrderPlan } from "@vidro/core";
import { isPlainJson, oneLine } from "@vidro/core/text";
import type { HandTool, ToolInputSchema } from "../tools/tool.ts";
import { readMountFile } from "./mount-file.ts";
import { OAuthTokens } from "./oauth-tokens.ts";
import { definitionOf, ToolPins } from "./pins.ts";
import { TOKENS_FILE } from "./server-sign-in.ts";
import type { ForeignTool } from "./server-client.ts";
import { ServerMount } from "./server-mount.ts";
import type { CurrentTool } from "./server-mount.ts";
import type { ServerPlace } from "./stdio-channel.ts";
import { outcomeOfResult } from "./tool-outcome.ts";

/** What servers are mounted for. */
interface MountOptions extends ServerPlace {
  /** The file that names the servers. */
  readonly file: string;
  /** The environment whose variables the file may name. */
  readonly variables: NodeJS.ProcessEnv;
  /** The hand's state folder, in which the definitions of tools are pinned. */
  readonly state: string;
  readonly version: string;
  /** Is told which server or tool is left out, and why. */
  readonly note: (text: string) => void;
}

/** The tools of all servers that a file names, and an end for them. */
interface MountedTools {
  readonly tools: readonly HandTool[];
  close(): Promise<void>;
}

/** A tool name that every model server accepts. */
const TOOL_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** Connects to the servers that a file names; one that is not ready is left out and told of. */
export async function mountServers(options: MountOptions): Promise<MountedTools> {
  const { file, variables, state, version, note } = options;
  const pins = new ToolPins(join(state, "mcp-pins.json"));
  const place = { ...options, tokens: new OAuthTokens(join(state, TOKENS_FILE)) };
  const mounts = readMountFile(file, variables).map((server) => new ServerMount(server, place, version));
  const tools = new Map<string, HandTool>();
  const listed = await Promise.all(
    mounts.map(async (mount) => {
      try {
        return (await mount.tools()).map((tool) => mountedTool(mount, tool, pins));
      } catch (thrown) {
        note(asFault(thrown).message);
        return [];
      }
    }),
  );
  for (const tool of listed.flat()) {
    const why = whyLeftOut(tool, tools);
    if (why === undefined) tools.set(tool.name, tool);
    else note(`The tool ${oneLine(tool.name, NAME_CHARS)} is left out: ${why}.`);
  }
  return {
    tools: [...tools.values()],
    close: async () => void (await Promise.all(mounts.map((mount) => mount.close()))),
  };
}

const NAME_CHARS = 200;

function whyLeftOut({ name, parameters }: HandTool, taken: ReadonlyMap<string, HandTool>): string | undefined {
  if (!TOOL_NAME.test(name)) return "no model takes its name";
  if (taken.has(name)) return "another tool has its name";
  return isPlainJson(JSON.stringify(parameters)) ? undefined : "its schema has characters that cannot be seen";
}

/** A tool of a server as a tool of the hand. What the server says of its effect counts for nothing: unless the host's own file declares it, it may write. */
function mountedTool(mount: ServerMount, seen: ForeignTool, pins: ToolPins): HandTool {
  const { server } = mount;
  const name = `${server.name}__${seen.name.replaceAll(/[^\w-]/g, "_")}`;
  const effect = server.effects.get(seen.name) ?? "write";
  const definition = definitionOf(seen);
  if (pins.find(name) === undefined) pins.pin({ [name]: definition });
  const { $schema: _, ...schema } = seen.inputSchema;
  const current = async (): Promise<CurrentTool> => {
    const found = await mount.find(seen.name);
    if (found !== undefined) return found;
    throw new Fault("TOOL_FAILED", `The MCP server ${server.name} no longer has the tool ${seen.name}.`);
  };
  const tool: HandTool<ToolInputSchema, OrderPlan> = {
    name,
    description: `Of the MCP server ${server.name}, which says of it: ${oneLine(seen.description, MOUNT_LIMITS.descriptionChars)}`,
    parameters: { ...schema, type: "object" } as unknown as ToolInputSchema,
    idempotent: effect === "read",
    effect,
    isForeign: true,
    async plan(input) {
      const now = definitionOf((await current()).tool);
      const changed = pins.find(name) === now ? {} : { changed: true as const };
      return { kind: "order", tool: name, input: input as JsonObject, definition: now, ...changed };
    },
    async run(input, { plan, signal }) {
      const now = await current();
      const defined = definitionOf(now.tool);
      if (defined !== plan.definition) throw new Fault("PLAN_CHANGED", "The server has changed the tool meanwhile.");
      // A changed definition is never allowed by a rule: a person has seen it and said yes.
      if (plan.changed === true) pins.pin({ [name]: defined });
      return outcomeOfResult(await now.call(input as JsonObject, signal));
    },
  };
  return tool;
}
