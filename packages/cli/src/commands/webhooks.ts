import type { Webhook, Webhooks } from "@vidro/brain/home";
import type { EventType } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import { withHomeBrain } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print, say, writeJson } from "../program/output.ts";
import { paint } from "../view/symbols.ts";

const URL_CHARS = 60;

interface Flags {
  readonly json?: boolean;
}

/** Adds a webhook and prints the secret of its signatures, which is not shown again. */
export async function addWebhook(url: string, flags: Flags & { readonly events?: readonly string[] }): Promise<number> {
  const { LOCAL_OWNER } = await import("@vidro/brain");
  return withWebhooks(async (webhooks, unasked) => {
    const events = (flags.events ?? unasked) as readonly EventType[];
    const made = await webhooks.add({ url, events }, LOCAL_OWNER);
    if (flags.json === true) writeJson({ ...made });
    else {
      print(made.secret);
      say(
        `${made.id} gets ${events.join(", ")}. The secret checks its signatures; keep it now: it is not shown again.`,
      );
    }
    return EXIT.ok;
  });
}

/** Lists webhooks without secrets, oldest first. */
export async function listWebhooks(flags: Flags): Promise<number> {
  return withWebhooks(async (webhooks) => {
    const found = webhooks.list();
    if (flags.json === true) for (const { secret: _, ...row } of found) writeJson({ ...row });
    else if (found.length === 0) say("There is no webhook. Add one: vidro webhooks add <url>");
    else print(paint("dim", "WEBHOOK, ADDRESS, EVENTS"), ...found.map(rowOf));
    return EXIT.ok;
  });
}

/** Removes a webhook. */
export async function removeWebhook(id: string, flags: Flags): Promise<number> {
  return withWebhooks(async (webhooks) => {
    await webhooks.remove(id);
    if (flags.json === true) writeJson({ id, removed: true });
    else say(`${oneLine(id, URL_CHARS)} is removed.`);
    return EXIT.ok;
  });
}

function rowOf({ id, url, events }: Webhook): string {
  return `${id}  ${oneLine(url, URL_CHARS)}  ${events.join(", ")}`;
}

async function withWebhooks(
  work: (webhooks: Webhooks, unasked: readonly EventType[]) => Promise<number>,
): Promise<number> {
  return withHomeBrain(async ({ records }) => {
    const { UNASKED_EVENTS, Webhooks: Opened } = await import("@vidro/brain/home");
    const webhooks = new Opened(records, Date.now);
    await webhooks.open();
    try {
      return await work(webhooks, UNASKED_EVENTS);
    } finally {
      webhooks.close();
    }
  });
}
