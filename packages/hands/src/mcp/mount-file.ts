import { existsSync, readFileSync, statSync } from "node:fs";
import { asFault, Fault, isObject, MOUNT_LIMITS, TOOL_EFFECTS } from "@vidro/core";
import type { Json, JsonObject, ToolEffect } from "@vidro/core";

/** A server that a hand mounts: a program on its stdin and stdout, or an address. */
export type MountedServer = ServerEffects & (ProgramServer | AddressedServer);

interface ServerEffects {
  /** Names the tools of the server: `name__tool`. */
  readonly name: string;
  /** Effects of its tools as the owner of the host declares them; a tool without one may write. */
  readonly effects: ReadonlyMap<string, ToolEffect>;
}

/** A server that the hand starts. */
export interface ProgramServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/** A server that listens for HTTP. */
export interface AddressedServer {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
}

/** Without two underscores, which part it from the name of a tool: `a` could otherwise name its tools as `a__b` does. */
const SERVER_NAME = /^[A-Za-z](?!.*__)(?!.*_$)[\w-]{0,31}$/;

/**
 * The servers that a file names, as other clients have them: `{"mcpServers": {name: {command, args, env} | {url,
 * headers}}}`. `${NAME}` in a text stands for a variable of the hand's environment. None when there is no file; throws
 * BAD_REQUEST that names what is wrong.
 */
export function readMountFile(file: string, env: NodeJS.ProcessEnv): readonly MountedServer[] {
  if (!existsSync(file)) return [];
  try {
    if (statSync(file).size > MOUNT_LIMITS.fileBytes)
      throw new Error(`it has more than ${MOUNT_LIMITS.fileBytes} bytes`);
    const value = JSON.parse(readFileSync(file, "utf8")) as Json;
    const servers = isObject(value) ? value["mcpServers"] : undefined;
    if (!isObject(servers)) throw new Error('it needs an object "mcpServers"');
    const named = Object.entries(servers).filter(([, server]) => !isObject(server) || server["disabled"] !== true);
    if (named.length > MOUNT_LIMITS.servers) throw new Error(`it names more than ${MOUNT_LIMITS.servers} servers`);
    return named.map(([name, server]) => readServer(name, server, env));
  } catch (cause) {
    throw new Fault("BAD_REQUEST", `${file}: ${asFault(cause).message}`, { cause });
  }
}

function readServer(name: string, server: Json | undefined, env: NodeJS.ProcessEnv): MountedServer {
  if (!SERVER_NAME.test(name))
    throw new Error(
      `${JSON.stringify(name)} is no name of a server: it has letters, digits, - and single _ within, at most 32`,
    );
  if (!isObject(server)) throw new Error(`${name} must be an object`);
  const read = fieldReader(name, server, env);
  const declared = Object.entries(read.texts("effects"));
  const effects = new Map(declared.map(([tool, word]) => [tool, effectOf(name, word)] as const));
  const { command, url } = server;
  if ((command === undefined) === (url === undefined)) throw new Error(`${name} needs a command or a url`);
  if (command !== undefined)
    return { name, effects, command: read.text("command"), args: read.list("args"), env: read.texts("env") };
  const address = URL.parse(read.text("url"));
  if (address === null || !/^https?:$/.test(address.protocol))
    throw new Error(`${name}: url must begin with http: or https:`);
  if (address.username !== "" || address.password !== "")
    throw new Error(`${name}: put credentials into headers, not into url`);
  return { name, effects, url: address.href, headers: read.texts("headers") };
}

function effectOf(name: string, word: string): ToolEffect {
  const effect = TOOL_EFFECTS.find((each) => each === word);
  if (effect === undefined) throw new Error(`${name}: an effect is ${TOOL_EFFECTS.join(", ")}, not ${word}`);
  return effect;
}

/** Reads the fields of a server; every text may name variables. */
function fieldReader(name: string, server: JsonObject, env: NodeJS.ProcessEnv) {
  const filled = (value: Json | undefined, field: string): string => {
    if (typeof value !== "string") throw new Error(`${name}: ${field} must be text`);
    return value.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
      const found = env[variable];
      if (found === undefined) throw new Error(`${name}: ${field} names the variable ${variable}, which is not set`);
      return found;
    });
  };
  return {
    text: (field: string): string => filled(server[field], field),
    list(field: string): readonly string[] {
      const { [field]: value = [] } = server;
      if (!Array.isArray(value)) throw new Error(`${name}: ${field} must be a list`);
      return value.map((each: Json) => filled(each, field));
    },
    texts(field: string): { readonly [name: string]: string } {
      const { [field]: value = {} } = server;
      if (!isObject(value)) throw new Error(`${name}: ${field} must be an object`);
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, `${field}.${key}`)]));
    },
  };
}
