import { Fault, FAULTS, isObject, SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import type { FaultCode, Json, JsonObject } from "@vidro/core";
import { brainAddress } from "../brain-api/address.ts";
import type { Address, BrainFlags } from "../brain-api/address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { expiryOf } from "../program/expiry.ts";
import { print, say, sayJson } from "../program/tell.ts";

/** Whom to invite. */
interface InviteFlags extends BrainFlags {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly expires?: string;
  readonly json?: boolean;
}

/** Invites a host: what to paste there goes to stdout, this once. */
export async function invite(flags: InviteFlags): Promise<number> {
  const { name, tags, expires } = flags;
  const now = Date.now();
  const lifeMs = expires === undefined ? SOUTHBOUND_LIMITS.invitationMs : expiryOf(expires, now) - now;
  if (lifeMs <= 0 || lifeMs > SOUTHBOUND_LIMITS.invitationMs)
    throw new Fault("BAD_REQUEST", "An invitation lives for an hour at most: --expires 30m");
  const address = await brainAddress(flags);
  if (address === undefined) throw new Fault("BRAIN_UNREACHABLE", "No brain is up that a host could join: vidro up");
  const letter = await ask(address, {
    expires_in_ms: lifeMs,
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags: [...tags] }),
  });
  const { command, token, expires_at: end } = letter;
  if (flags.json === true) {
    sayJson({ command, token, expires_at: end });
    return EXIT.ok;
  }
  print(textIn(letter, "command") ?? "");
  say(`Paste it on the host. It counts once, until ${textIn(letter, "expires_at")}.`);
  if (letter["only_here"] === true)
    say("Only this machine can reach the address. For others: vidro up --southbound-host NAME");
  return EXIT.ok;
}

/** Asks without a key for repetitions: under one, the brain would keep its answer, and a secret is in it. */
async function ask({ url, token }: Address, who: JsonObject): Promise<JsonObject> {
  const response = await fetch(new URL("v1/hands/invitations", url.endsWith("/") ? url : `${url}/`), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(who),
    redirect: "error",
  }).catch((cause: Error) => {
    throw new Fault("BRAIN_UNREACHABLE", `${url} cannot be reached: ${cause.message}`, { cause });
  });
  const answer = (await response.json().catch(() => null)) as Json;
  const said = isObject(answer) ? answer : {};
  if (response.ok) return said;
  const code = textIn(said, "code");
  const known = code !== undefined && Object.hasOwn(FAULTS, code) ? (code as FaultCode) : "BRAIN_UNREACHABLE";
  throw new Fault(known, textIn(said, "error") ?? textIn(said, "message"));
}
