import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { asFault, Fault } from "@vidro/core";
import { INVITATION_VARIABLE } from "@vidro/core/wire/enrolment";
import { takeInvitation } from "../config.ts";

/** Flags that supply an invitation. */
export interface InvitationFlags {
  /** The token itself, visible to every user of the host in the process list; `-` reads stdin. */
  readonly token?: string;
  /** A file with the token. */
  readonly tokenFile?: string;
}

/**
 * The token of an invitation: as a flag has it, else the environment, else what is piped in. It is taken out of the
 * environment, so that no program that is started later has it.
 */
export async function readInvitation({ token, tokenFile }: InvitationFlags): Promise<string> {
  const given = takeInvitation();
  if (token !== undefined && token !== "-") return token;
  if (tokenFile !== undefined)
    return readFile(tokenFile, "utf8").catch((cause: unknown) => throwUnreadable(tokenFile, cause));
  if (token === undefined && given !== undefined) return given;
  if (token === "-" || !process.stdin.isTTY) {
    const piped = (await text(process.stdin)).trim();
    if (piped !== "") return piped;
  }
  throw new Fault(
    "BAD_REQUEST",
    `Joining takes an invitation: in ${INVITATION_VARIABLE}, from stdin, or --token-file <file>: vidro hands invite`,
  );
}

function throwUnreadable(file: string, cause: unknown): never {
  throw new Fault("BAD_REQUEST", `${file} cannot be read: ${asFault(cause).message}`, { cause });
}
