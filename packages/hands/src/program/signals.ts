/* Every command loads this file first, so it imports nothing until a reload fails. */

/** Settings that a process has read from files and can reload. */
export interface Reloadable {
  /** Name for the log. */
  readonly what: string;
  /** Reads the settings again; throws or rejects if they cannot be used, and then the previous ones stay in force. */
  readonly reload: () => void | Promise<void>;
}

const MESSAGES = {
  "signal.ignored": "a signal does nothing here",
  "settings.reloaded": "read anew",
  "settings.reload_failed": "cannot be read anew; the one before stays in force",
} as const;

/** Gets what became of a signal: what was done, or what was kept as it was and why. */
type SignalNote = (event: keyof typeof MESSAGES, fields: { readonly [name: string]: string }) => void;

/** A certificate and its key, in PEM. */
interface Pem {
  readonly cert: string;
  readonly key: string;
}

/** The certificate of a server as a reloadable setting; open connections keep the previous one. */
export function reloadableCertificate(
  server: { readonly secure?: (tls: Pem) => void },
  read: () => Promise<Pem | undefined>,
): readonly Reloadable[] {
  if (server.secure === undefined) return [];
  const reload = async (): Promise<void> => {
    const tls = await read();
    if (tls !== undefined) server.secure?.(tls);
  };
  return [{ what: "TLS certificate", reload }];
}

const REASON_CHARS = 400;
const NOTHING = (): void => undefined;

/**
 * Ignores SIGUSR1 and SIGUSR2: by default the first would open Node's debugger port and the second would end the
 * process.
 */
export function ignoreUserSignals(): void {
  process.on("SIGUSR1", NOTHING).on("SIGUSR2", NOTHING);
}

/**
 * Handles the signals that do not end a serving process: SIGHUP reloads the settings that `reloadables` returns, one
 * after the other; SIGUSR1 and SIGUSR2 are ignored, with one note for each.
 */
export function serveSignals(reloadables: () => readonly Reloadable[], note: SignalNote): void {
  ignoreUserSignals();
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.once(signal, () => note("signal.ignored", { signal }));
  let last = Promise.resolve();
  process.on("SIGHUP", () => {
    // What cannot be asked for its settings now may be asked at the next signal.
    last = last.then(() => reloadAll(reloadables(), note)).catch(NOTHING);
  });
}

async function reloadAll(reloadables: readonly Reloadable[], note: SignalNote): Promise<void> {
  for (const { what, reload } of reloadables) {
    try {
      await reload();
      note("settings.reloaded", { what });
    } catch (thrown) {
      const [{ asFault }, { oneLine }] = await Promise.all([import("@vidro/core"), import("@vidro/core/text")]);
      const { code, message } = asFault(thrown, "BAD_REQUEST");
      const reason = oneLine(message, REASON_CHARS);
      note("settings.reload_failed", { what, code, reason });
    }
  }
}

/** Writes a note to stderr, for a terminal or the log of a service. */
export const printSignalNote: SignalNote = (event, { what, signal, reason }) => {
  process.stderr.write(`${what ?? signal ?? ""}: ${MESSAGES[event]}${reason === undefined ? "" : `: ${reason}`}\n`);
};
