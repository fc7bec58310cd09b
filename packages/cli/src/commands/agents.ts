import { readFile, stat } from "node:fs/promises";
import type { AgentRecord } from "@vidro/client";
import { asFault, CATALOG_LIMITS, Fault } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { paint } from "../view/symbols.ts";
import { indentText, print, say, writeJson } from "../program/output.ts";

const NAME_CHARS = 20;
const DESCRIPTION_CHARS = 70;

type Flags = BrainFlags & { readonly json?: boolean };

/** Flags of `vidro agents create`. */
interface CreateFlags extends Flags {
  readonly name: string;
  readonly description?: string;
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly prompt?: string;
  readonly promptFile?: string;
}

/** Lists agents, bunny first, then by name. */
export async function listAgents(flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ agents }) => {
    if (flags.json !== true) print(paint("dim", `${"AGENT".padEnd(NAME_CHARS)}  WHAT FOR`));
    for (const agent of await agents.list()) {
      if (flags.json === true) writeJson(lineOf(agent));
      else print(row(agent));
    }
    return EXIT.ok;
  });
}

/** Prints an agent with its prompt. */
export async function showAgent(uuidOrName: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ agents }) => {
    const agent = await agents.find(uuidOrName);
    if (flags.json === true) writeJson(lineOf(agent));
    else print(...page(agent));
    return EXIT.ok;
  });
}

/** Creates an agent and prints its uuid. */
export async function createAgent(flags: CreateFlags): Promise<number> {
  const { name, description, model, tools } = flags;
  const prompt = await promptOf(flags);
  return withBrainApi(flags, async ({ agents }) => {
    const made = await agents.create({
      name,
      prompt,
      ...(description === undefined ? {} : { description }),
      ...(model === undefined ? {} : { model }),
      ...(tools === undefined ? {} : { tools }),
    });
    if (flags.json === true) {
      writeJson(lineOf(made));
      return EXIT.ok;
    }
    print(made.uuid);
    say(`${made.name} is there. Look at it: vidro agents show ${made.uuid}`);
    return EXIT.ok;
  });
}

/** Deletes an agent that was created. */
export async function deleteAgent(uuidOrName: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ agents }) => {
    const { uuid, name } = await agents.find(uuidOrName);
    await agents.delete(uuid);
    if (flags.json === true) writeJson({ uuid, deleted: true });
    else say(`${name} is deleted.`);
    return EXIT.ok;
  });
}

async function promptOf({ prompt, promptFile }: CreateFlags): Promise<string> {
  if (prompt !== undefined) return prompt;
  if (promptFile === undefined)
    throw new Fault("BAD_REQUEST", "An agent needs a prompt: give --prompt TEXT or --prompt-file FILE.");
  try {
    const { size } = await stat(promptFile);
    if (size <= CATALOG_LIMITS.agentFileBytes) return (await readFile(promptFile, "utf8")).trim();
  } catch (thrown) {
    throw new Fault("BAD_REQUEST", `The prompt cannot be read: ${asFault(thrown).message}`, { cause: thrown });
  }
  throw new Fault(
    "BAD_REQUEST",
    `${promptFile} is larger than ${CATALOG_LIMITS.agentFileBytes} bytes, too large for a prompt.`,
  );
}

function row({ name, description }: AgentRecord): string {
  const words = oneLine(description ?? "", DESCRIPTION_CHARS);
  return `${paint("bold", oneLine(name, CATALOG_LIMITS.nameChars).padEnd(NAME_CHARS))}  ${words}`.trimEnd();
}

function page(agent: AgentRecord): readonly string[] {
  const { uuid, name, description, model, tools, prompt } = agent;
  const facts = [
    ["uuid", uuid],
    ["model", model ?? "the one that the brain chooses"],
    ["tools", tools === null ? "all there are" : tools.join(", ") || "none"],
    ["changed", new Date(agent.updatedAt).toISOString()],
  ] as const;
  return [
    [paint("bold", name), ...(description === null ? [] : [description])].join("  "),
    ...facts.map(([fact, value]) => `  ${paint("dim", `${fact}:`.padEnd(8))} ${value}`),
    // Last, after an empty line: foreign text must not look like a row of this command.
    ...(prompt === null ? [] : ["", ...indentText(prompt, 0)]),
  ];
}

function lineOf(agent: AgentRecord): { readonly uuid: string; readonly [field: string]: unknown } {
  const { uuid, name, description, prompt, image, model, tools, createdAt, updatedAt } = agent;
  return {
    uuid,
    name,
    description,
    prompt,
    image,
    model,
    tools,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}
