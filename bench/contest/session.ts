import { missingOf } from "./needs.ts";
import type { Figure, Report } from "./report.ts";

/** All figures together take no longer than this: one that would is left out. */
export const SESSION_MS = 20 * 60_000;

/** How long a figure is taken to need that was never measured. */
const UNKNOWN_MS = 60_000;

/** What a session of figures is given besides them. */
export interface Session {
  /** The time that all of them have together. */
  readonly boundMs: number;
  readonly now: () => number;
  /** How long a figure took the last time. */
  readonly tookMs: (figure: Figure) => number | undefined;
  /** Takes what came out, and how long that took. */
  readonly take: (figure: Figure, report: Report, tookMs: number) => void;
  /** Tells people how it goes. */
  readonly say: (line: string) => void;
}

/**
 * Measures figures one after the other, those first that took least the last time; resolves with whether none of them
 * failed. One whose programs this machine does not have, or for which there is no time left, is left out by its name,
 * which is no failure.
 */
export async function measureFigures(figures: readonly Figure[], session: Session): Promise<boolean> {
  const { boundMs, now, say } = session;
  const begunAt = now();
  const needed = (figure: Figure): number => session.tookMs(figure) ?? UNKNOWN_MS;
  let isSound = true;
  for (const figure of figures.toSorted((one, other) => needed(one) - needed(other))) {
    const { name } = figure;
    const missing = missingOf(figure.needs);
    if (missing.length > 0) {
      say(`${name} is left out: this machine has no ${missing.join(" and no ")}`);
      continue;
    }
    const at = now();
    if (at - begunAt + needed(figure) > boundMs) {
      say(`${name} is left out: there is no time left for it; npm run bench -- ${name} measures it alone`);
      continue;
    }
    say(name);
    try {
      const report = await figure.measure();
      session.take(figure, report, now() - at);
    } catch (thrown) {
      // The others can be measured all the same; its section stays as it was.
      say(`${name} has failed: ${thrown instanceof Error ? (thrown.stack ?? "") : String(thrown)}`);
      isSound = false;
    }
    say(`${name} took ${Math.round((now() - at) / 1000)} s`);
  }
  return isSound;
}
