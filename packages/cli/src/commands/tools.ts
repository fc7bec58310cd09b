import type { KeptToolRecord } from "@vidro/client";
import { Fault } from "@vidro/core";
import { commandLine, oneLine, printable, SHORT_ID_CHARS } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print, printText, say, writeJson } from "../program/output.ts";
import { paint } from "../view/symbols.ts";

const NAME_CHARS = 24;
const COMMAND_CHARS = 60;

type Flags = BrainFlags & { readonly json?: boolean };

/** Lists the tools that models proposed and people approved. */
export async function listKeptTools(flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ keptTools }) => {
    const found = await keptTools.list();
    if (flags.json === true) for (const tool of found) writeJson({ ...tool });
    else if (found.length === 0) say("There is no tool that a model proposed and a person approved.");
    else {
      const heading = ["NAME".padEnd(NAME_CHARS), "THREAD".padEnd(SHORT_ID_CHARS), "COMMAND"];
      print(paint("dim", heading.join("  ")), ...found.map(rowOf));
    }
    return EXIT.ok;
  });
}

/** Shows an approved tool with its command, its input and where it comes from. */
export async function showKeptTool(given: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ keptTools }) => {
    const tool = await findTool(keptTools, given);
    if (flags.json === true) {
      writeJson({ ...tool });
      return EXIT.ok;
    }
    printText(commandLine(tool.argv));
    const { name, description, parameters, by, at, source } = tool;
    say(`${name}: ${printable(description)}`);
    say(`input: ${JSON.stringify(parameters)}`);
    say(`${placeOf(tool)} · approved by ${by} · ${new Date(at).toLocaleString("sv")}`);
    say(`proposed in ${source.run}, entry ${source.seq}`);
    return EXIT.ok;
  });
}

/** Removes an approved tool: later runs do not have it. */
export async function removeKeptTool(given: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ keptTools }) => {
    const { id, name } = await findTool(keptTools, given);
    await keptTools.remove(id);
    if (flags.json === true) writeJson({ id, removed: true });
    else say(`${name} is removed; runs that have begun keep it.`);
    return EXIT.ok;
  });
}

/** Lets all threads have an approved tool of one. */
export async function promoteKeptTool(given: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ keptTools }) => {
    const promoted = await keptTools.promote((await findTool(keptTools, given)).id);
    if (flags.json === true) writeJson({ ...promoted });
    else say(`All threads have ${promoted.name} from their next run on.`);
    return EXIT.ok;
  });
}

/** The tool of this id, or the only one of this name. */
async function findTool(keptTools: BrainApi["keptTools"], given: string): Promise<KeptToolRecord> {
  const all = await keptTools.list();
  const [found, ...others] =
    [all.filter(({ id }) => id === given), all.filter(({ name }) => name === given)].find((some) => some.length > 0) ??
    [];
  if (found === undefined) throw new Fault("NOT_FOUND", `There is no approved tool ${given}: vidro tools list`);
  if (others.length === 0) return found;
  const ids = [found, ...others].map(({ id }) => id).join(", ");
  throw new Fault("BAD_REQUEST", `Several threads have a tool ${given}; name one of ${ids}.`);
}

function rowOf(tool: KeptToolRecord): string {
  const { name, thread, argv } = tool;
  const where = thread === null ? "all" : thread.slice(-SHORT_ID_CHARS);
  return [name.padEnd(NAME_CHARS), where.padEnd(SHORT_ID_CHARS), oneLine(commandLine(argv), COMMAND_CHARS)].join("  ");
}

function placeOf({ thread }: KeptToolRecord): string {
  return thread === null ? "all threads" : `thread ${thread}`;
}
