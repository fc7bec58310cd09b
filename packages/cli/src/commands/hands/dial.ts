import { text } from "node:stream/consumers";
import type { HandRecord } from "@vidro/client";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { readPemFile } from "../../program/read-pem-file.ts";
import { say, writeJson } from "../../program/output.ts";
import { handLine } from "../hands.ts";

/** Flags of `vidro hands dial`. */
interface DialFlags {
  /** Token of the hand; the token for the brain comes from VIDRO_TOKEN. */
  readonly token: string;
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly ca?: string;
  readonly lab?: boolean;
  readonly url?: string;
  readonly json?: boolean;
}

/** Has the daemon connect to a hand that listens, and shows the hand's state after the first try. */
export async function dialHand(hand: string, flags: DialFlags): Promise<number> {
  const { name, tags, ca, lab, url, json } = flags;
  const dialled = await withBrainApi(url === undefined ? {} : { url }, async ({ hands }) =>
    hands.dial({
      url: hand,
      token: flags.token === "-" ? (await text(process.stdin)).trim() : flags.token,
      ...(name === undefined ? {} : { name }),
      ...(tags === undefined ? {} : { tags }),
      ...(ca === undefined ? {} : { ca: await readPemFile(ca) }),
      ...(lab === undefined ? {} : { lab }),
    }),
  );
  if (json === true) writeJson(handLine(dialled));
  else say(...words(dialled));
  return EXIT.ok;
}

function words({ name, state, why }: HandRecord): readonly string[] {
  if (state !== "down") return [`${name} is ${state}. It is dialled until it is revoked.`];
  return [`${name} is down: ${why ?? "it has not answered yet"}`, "It is dialled until it is revoked."];
}
