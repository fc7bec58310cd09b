import { CLIENT_LIMITS, Fault, SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { parseExpiry } from "../../program/expiry.ts";
import { print, say, writeJson } from "../../program/output.ts";

/** Flags of `vidro hands invite`. */
interface InviteFlags extends BrainFlags {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly expires?: string;
  readonly installed?: boolean;
  readonly json?: boolean;
}

/** Invites a host and prints the command to run there; its secret is shown only now. */
export async function inviteHost(flags: InviteFlags): Promise<number> {
  const { name, tags, expires, installed } = flags;
  const now = Date.now();
  const lifeMs = expires === undefined ? SOUTHBOUND_LIMITS.invitationMs : parseExpiry(expires, now) - now;
  if (lifeMs <= 0 || lifeMs > SOUTHBOUND_LIMITS.invitationMs)
    throw new Fault("BAD_REQUEST", "An invitation lives for an hour at most: --expires 30m");
  const slow = setTimeout(() => say("The brain makes the archive that hosts install, once."), CLIENT_LIMITS.noticeMs);
  const invitation = await withBrainApi(flags, ({ hands }) =>
    hands.invite({
      lifeMs,
      ...(name === undefined ? {} : { name }),
      ...(tags === undefined ? {} : { tags }),
      ...(installed === undefined ? {} : { installed }),
    }),
  ).finally(() => clearTimeout(slow));
  const { command, token, expires_at: end, needs_vidro: needsVidro } = invitation;
  if (flags.json === true) {
    writeJson({ command, token, expires_at: end, needs_vidro: needsVidro === true });
    return EXIT.ok;
  }
  print(textIn(invitation, "command") ?? "");
  say(`Paste it on the host. It counts once, until ${textIn(invitation, "expires_at")}.`);
  if (needsVidro === true && installed !== true)
    say("The host needs Vidro for it: this brain was not installed from an archive, so it has none to give.");
  if (invitation["only_here"] === true)
    say("Only this machine can reach the address. For others: vidro up --southbound-host NAME");
  return EXIT.ok;
}
