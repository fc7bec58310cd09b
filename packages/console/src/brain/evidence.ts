import { VidroError } from "@vidro/client";
import { CONSOLE_LIMITS } from "@vidro/core";
import { translate } from "../words/translate.ts";
import { request, requestStream } from "./connection.ts";

/* What stands behind a journal: the whole outputs that hands keep, and whether its hash chain and its seals are whole. */

/** As much of a whole output as a page holds. */
export interface LoadedOutput {
  readonly text: string;
  /** Whether there is more of it than the page holds. */
  readonly isCut: boolean;
}

/** Where the whole output of an action is; the brain gives it as a file. */
export function outputPath(run: string, action: string): string {
  return `/v1/runs/${encodeURIComponent(run)}/actions/${encodeURIComponent(action)}/output`;
}

/** Reads the whole output of an action up to `outputChars`; rejects with a VidroError, also when its hand leaves. */
export async function loadOutput(run: string, action: string): Promise<LoadedOutput> {
  const { body } = await requestStream(outputPath(run, action), { headers: { accept: "text/plain" } });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return { text, isCut: false };
      text += value;
      if (text.length <= CONSOLE_LIMITS.outputChars) continue;
      await reader?.cancel();
      return { text: text.slice(0, CONSOLE_LIMITS.outputChars), isCut: true };
    }
  } catch (cause) {
    throw new VidroError("CONNECTION_LOST", translate("The output broke off: its hand or the brain is away."), {
      cause,
    });
  }
}

/** What a check of a journal found. */
export interface Verification {
  readonly ok: boolean;
  /** Entries up to which the hash chain is whole. */
  readonly entries: number;
  readonly broken_at?: number;
  readonly reason?: string;
  /** What is not as it was sealed. */
  readonly findings: readonly string[];
  /** The last entry that is sealed; absent where the store has no seals. */
  readonly sealed_up_to?: number;
  readonly sealed_at?: number | null;
}

/** Lets the brain check the hash chain and the seals of a run. */
export async function verifyRun(run: string): Promise<Verification> {
  return (await request("GET", `/v1/runs/${encodeURIComponent(run)}/verification`)) as unknown as Verification;
}
