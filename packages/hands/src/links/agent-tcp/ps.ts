import { PS_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import type { JsonObject } from "@vidro/core";
import { compileGlob } from "../../files/glob.ts";
import { listProcesses, sortProcesses } from "../../exec/proc.ts";
import type { ProcessListing } from "../../exec/proc.ts";
import type { ToolInput } from "../../tools/tool.ts";
import { defineCommand } from "./command.ts";
import { fitItems } from "./fit-frame.ts";
import { requireAllowed } from "./policy-check.ts";

/** Length to which a command line is cut. */
const COMMAND_CHARS = 400;

/** Lists processes [002-35]. */
export const psCommand = defineCommand({
  act: "PS",
  scope: "ps",
  schema: PS_SCHEMA,
  async run(data, { context, maxBytes }) {
    await requireAllowed(context.hand, "processes", {});
    const found = filterProcesses(await listProcesses(), data);
    const sorted = sortProcesses(found, data.sortBy, data.order).slice(0, data.limit);
    const { items: processes } = fitItems(
      sorted.map((row) => selectFields(row, data.fields)),
      maxBytes,
    );
    return { ok: true, processes, meta: { total: found.length, returned: processes.length, time: Date.now() } };
  },
});

function filterProcesses(
  all: readonly ProcessListing[],
  { user, namePattern }: ToolInput<typeof PS_SCHEMA>,
): ProcessListing[] {
  const isNamed = namePattern === undefined ? () => true : nameTest(namePattern.toLowerCase());
  return all.filter((row) => (user === undefined || row.user === user) && isNamed(row));
}

/** A pattern with `*`, `?` or `[` must match the whole name; any other text must occur in the name or command. */
function nameTest(pattern: string): (row: ProcessListing) => boolean {
  if (!/[*?[]/.test(pattern)) return ({ name, cmd }) => `${name}\n${cmd}`.toLowerCase().includes(pattern);
  // Kernel threads have slashes in their names, which a glob would treat as folders.
  const flat = (text: string): string => text.replaceAll("/", "\u2215");
  const compiled = compileGlob(flat(pattern));
  return ({ name }) => compiled.matches(flat(name.toLowerCase()));
}

function selectFields(row: ProcessListing, fields: readonly (keyof ProcessListing)[] | undefined): JsonObject {
  const shown = { ...row, cmd: row.cmd.slice(0, COMMAND_CHARS) };
  return fields === undefined ? shown : Object.fromEntries(fields.map((field) => [field, shown[field]]));
}
