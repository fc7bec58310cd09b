import type { RunHead, Verdict } from "@vidro/core";
import { spanWords } from "@vidro/core/text";
import { localeNow, translate } from "../words/translate.ts";

/** How a run stands, in a word, and the class of its colour. */
export function statusWords({
  status,
  damaged,
}: Pick<RunHead, "status" | "damaged">): readonly [word: string, tone: string] {
  if (damaged !== undefined) return [translate("damaged"), "bad"];
  switch (status) {
    case "running":
      return [translate("running"), "running"];
    case "asking":
      return [translate("waits for you"), "asking"];
    case "finished":
      return [translate("done"), "ok"];
    case "failed":
      return [translate("failed"), "bad"];
    case "aborted":
      return [translate("stopped"), "quiet"];
    default:
      return [String(status), "quiet"];
  }
}

/** What a policy decided, in a word, and the class of its colour. */
export function decisionWords(decision: Verdict["decision"]): readonly [word: string, tone: string] {
  if (decision === "allow") return [translate("allowed"), "ok"];
  return decision === "ask" ? [translate("asks"), "asking"] : [translate("denied"), "bad"];
}

/** The health of a hand or of a part of the brain, in a word, and the class of its colour. */
export function healthWords(state: string): readonly [word: string, tone: string] {
  if (state === "ok") return [translate("ok"), "ok"];
  return state === "degraded" ? [translate("degraded"), "asking"] : [translate("down"), "bad"];
}

/** How long ago a time was. */
export function agoWords(at: number, now: number = Date.now()): string {
  const past = Math.max(0, now - at);
  return past < 1000 ? translate("now") : translate("{span} ago", { span: roundSpan(past) });
}

/** A span in its largest unit. */
export function roundSpan(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** How long a run took, or takes so far. */
export function tookWords({ startedAt, updatedAt, status }: RunHead, now: number = Date.now()): string {
  return spanWords((status === "running" || status === "asking" ? now : updatedAt) - startedAt);
}

/** A time as the reader's own clock shows it. */
export function clockWords(at: number): string {
  return new Date(at).toLocaleString(localeNow());
}

/** The end of an id: the beginnings of ids are alike. */
export function shortId(id: string): string {
  return id.slice(-8);
}
