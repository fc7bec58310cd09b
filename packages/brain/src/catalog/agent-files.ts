import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { CATALOG_LIMITS, Fault } from "@vidro/core";
import type { AgentFields, StoredAgent } from "./agent.ts";

/*
 * An agent in a file: a head between two lines of dashes with its fields, and below it the text of its prompt.
 * The head is `key: value` on each line; a list is `[a, b]`, or one `- a` on each of the lines that follow.
 */

/** The folder of the agents shipped with Vidro. */
export const SHIPPED_AGENTS = join(import.meta.dirname, "..", "..", "agents");

/** The agents that the `.md` files of a folder describe; none when there is no such folder. */
export async function readAgents(folder: string): Promise<readonly Omit<StoredAgent, "uuid">[]> {
  const all = await readdir(folder).catch(() => []);
  const names = all.filter((name) => name.endsWith(".md") && !name.startsWith("."));
  if (names.length > CATALOG_LIMITS.agents)
    throw new Fault("BAD_REQUEST", `${folder} holds more than ${CATALOG_LIMITS.agents} agents: move some away.`);
  return Promise.all(names.sort().map((name) => readAgent(join(folder, name))));
}

async function readAgent(path: string): Promise<Omit<StoredAgent, "uuid">> {
  const found = await stat(path);
  // Reading a pipe that nothing writes to would never end.
  if (!found.isFile()) throw new Fault("BAD_REQUEST", `${path} is no file: move it away.`);
  const { size, mtimeMs, birthtimeMs } = found;
  if (size > CATALOG_LIMITS.agentFileBytes)
    throw new Fault(
      "BAD_REQUEST",
      `${path} is larger than ${CATALOG_LIMITS.agentFileBytes} bytes, too large for an agent.`,
    );
  const draft = parseAgent(await readFile(path, "utf8"), path);
  const updatedAt = Math.floor(mtimeMs);
  // Some file systems have no creation time.
  return { ...draft, createdAt: Math.min(Math.floor(birthtimeMs) || updatedAt, updatedAt), updatedAt };
}

const FILE = /^---\n(?<head>[\s\S]*?)^---[ \t]*(?:\n(?<body>[\s\S]*))?$/m;
const KEYS = ["name", "description", "model", "tools", "image"] as const;

/** Parses an agent; BAD_REQUEST says which line cannot be parsed. */
export function parseAgent(source: string, path: string): AgentFields {
  const text = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const found = text.startsWith("---\n") ? FILE.exec(text)?.groups : undefined;
  if (found === undefined)
    throw new Fault("BAD_REQUEST", `${path} must begin with a head between two lines of dashes (---).`);
  const head = parseHead(found["head"] ?? "", path);
  const one = (key: string): string | undefined => {
    const value = head.get(key);
    if (typeof value === "object") throw new Fault("BAD_REQUEST", `${path}: ${key} is one value, not a list.`);
    return value === "" ? undefined : value;
  };
  const name = one("name") ?? basename(path, ".md");
  if (!AGENT_NAME.test(name))
    throw new Fault("BAD_REQUEST", `${path}: a name has 1 to ${CATALOG_LIMITS.nameChars} characters, on one line.`);
  const tools = head.get("tools");
  const model = one("model");
  return {
    name,
    description: one("description") ?? "",
    prompt: (found["body"] ?? "").trim(),
    image: one("image") ?? null,
    tools: typeof tools === "string" ? words(tools) : (tools ?? null),
    ...(model === undefined ? {} : { model }),
  };
}

/** Pattern of an agent's name. */
export const AGENT_NAME = new RegExp(`^(?! )[^\\p{Cc}]{1,${CATALOG_LIMITS.nameChars}}(?<! )$`, "u");

function parseHead(head: string, path: string): Map<string, string | readonly string[]> {
  const found = new Map<string, string | readonly string[]>();
  let last = "";
  for (const [index, line] of head.split("\n").entries()) {
    const wrong = (why: string): Fault => new Fault("BAD_REQUEST", `${path}, line ${index + 2}: ${why}`);
    if (/^\s*(#.*)?$/.test(line)) continue;
    const item = /^\s*-\s+(.+)$/.exec(line)?.[1];
    const before = found.get(last);
    if (item !== undefined) {
      if (last === "" || (typeof before === "string" && before !== "")) throw wrong("an item without a list.");
      found.set(last, [...(typeof before === "object" ? before : []), withoutQuotes(item)]);
      continue;
    }
    const [, key = "", value = ""] = /^(\w+):(?:\s+(.*))?$/.exec(line) ?? [];
    if (!KEYS.some((known) => known === key)) throw wrong(`expected one of ${KEYS.join(", ")}, then a colon.`);
    if (found.has(key)) throw wrong(`${key} is said twice.`);
    const list = /^\[(.*)\]$/.exec(value.trim())?.[1];
    found.set(key, list === undefined ? withoutQuotes(value) : words(list));
    last = key;
  }
  return found;
}

function words(list: string): readonly string[] {
  return list
    .split(",")
    .map((word) => withoutQuotes(word))
    .filter((word) => word !== "");
}

function withoutQuotes(value: string): string {
  return /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value.trim();
}
