import type { HookDraft, HookRecord } from "@vidro/client";
import { Fault } from "@vidro/core";
import { oneLine, SHORT_ID_CHARS } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print, say, writeJson } from "../program/output.ts";
import { paint } from "../view/symbols.ts";

const TASK_CHARS = 60;
const TIME_CHARS = 19;

type Flags = BrainFlags & { readonly json?: boolean };

/** Flags of `vidro hooks add`. */
interface AddFlags extends Flags, Omit<HookDraft, "task" | "hand"> {
  readonly on?: string;
}

/** Adds a hook and prints the secret of its calls, which is not shown again. */
export async function addHook(task: string, flags: AddFlags): Promise<number> {
  const { on, agent, workspace, model } = flags;
  const draft = {
    task,
    ...(on === undefined ? {} : { hand: on }),
    ...(agent === undefined ? {} : { agent }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
  };
  return withBrainApi(flags, async (brain) => {
    const made = await brain.hooks.add(draft);
    if (flags.json === true) writeJson({ ...made });
    else {
      print(made.secret ?? "");
      say(
        `${made.id} is called at ${await brain.address()}${made.path}, signed with the secret or with it as a bearer token. Keep it now: it is not shown again.`,
      );
    }
    return EXIT.ok;
  });
}

/** Lists hooks without secrets, oldest first. */
export async function listHooks(flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ hooks }) => {
    const found = await hooks.list();
    if (flags.json === true) for (const { secret: _, ...row } of found) writeJson({ ...row });
    else if (found.length === 0) say('There is no hook. Add one: vidro hooks add "<task>"');
    else {
      const heading = ["ID".padEnd(SHORT_ID_CHARS), "LAST CALL".padEnd(TIME_CHARS), "TASK"];
      print(paint("dim", heading.join("  ")), ...found.map(rowOf));
    }
    return EXIT.ok;
  });
}

/** Removes a hook. */
export async function removeHook(given: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ hooks }) => {
    const [hook, ...others] = (await hooks.list()).filter(({ id }) => id.endsWith(given));
    if (hook === undefined) throw new Fault("NOT_FOUND", `No hook has an id that ends with ${given}: vidro hooks list`);
    if (others.length > 0) throw new Fault("BAD_REQUEST", `Several hooks end with ${given}; give more of the id.`);
    await hooks.remove(hook.id);
    if (flags.json === true) writeJson({ id: hook.id, removed: true });
    else say(`${hook.id} is removed; its runs stay.`);
    return EXIT.ok;
  });
}

function rowOf({ id, task, hand, lastAt }: HookRecord): string {
  const when = lastAt === null ? "never" : new Date(lastAt).toLocaleString("sv");
  const where = hand === null ? "" : ` on ${oneLine(hand, TASK_CHARS)}`;
  return [id.slice(-SHORT_ID_CHARS), when.padEnd(TIME_CHARS), `${oneLine(task, TASK_CHARS)}${where}`].join("  ");
}
