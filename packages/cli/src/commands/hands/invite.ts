import { Fault, SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { parseExpiry } from "../../program/expiry.ts";
import { print, say, writeJson } from "../../program/output.ts";

/** What `vidro hands invite` may be told. */
interface InviteFlags extends BrainFlags {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly expires?: string;
  readonly json?: boolean;
}

/** Invites a host and prints the command to run there; its secret is shown only now. */
export async function inviteHost(flags: InviteFlags): Promise<number> {
  const { name, tags, expires } = flags;
  const now = Date.now();
  const lifeMs = expires === undefined ? SOUTHBOUND_LIMITS.invitationMs : parseExpiry(expires, now) - now;
  if (lifeMs <= 0 || lifeMs > SOUTHBOUND_LIMITS.invitationMs)
    throw new Fault("BAD_REQUEST", "An invitation lives for an hour at most: --expires 30m");
  const invitation = await withBrainApi(flags, ({ hands }) =>
    hands.invite({ lifeMs, ...(name === undefined ? {} : { name }), ...(tags === undefined ? {} : { tags }) }),
  );
  const { command, token, expires_at: end } = invitation;
  if (flags.json === true) {
    writeJson({ command, token, expires_at: end });
    return EXIT.ok;
  }
  print(textIn(invitation, "command") ?? "");
  say(`Paste it on the host. It counts once, until ${textIn(invitation, "expires_at")}.`);
  if (invitation["only_here"] === true)
    say("Only this machine can reach the address. For others: vidro up --southbound-host NAME");
  return EXIT.ok;
}
