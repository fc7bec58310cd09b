/* Loaded by every command before all else, so it loads nothing itself until a file turns out to be bad. */

/** Something that a process has read from files, and can read again. */
export interface Reloadable {
  /** What it is, for the log. */
  readonly what: string;
  /** Reads it anew; throws or rejects when it cannot be used, and then the one before stays in force. */
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

/** The certificate of a server as what can be read anew; connections that are open keep the one before. */
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
 * Takes SIGUSR1 and SIGUSR2 from Node and from the system: the first would open a port for a debugger, the second would
 * end the process without a word.
 */
export function ignoreUserSignals(): void {
  process.on("SIGUSR1", NOTHING).on("SIGUSR2", NOTHING);
}

/**
 * What a process that serves does with the signals that do not end it: SIGHUP reads anew what `reloadables` gives, one
 * after the other, and SIGUSR1 and SIGUSR2 do nothing, which is noted once for each.
 */
export function serveSignals(reloadables: () => readonly Reloadable[], note: SignalNote): void {
  ignoreUserSignals();
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.once(signal, () => note("signal.ignored", { signal }));
  let last = Promise.resolve();
  process.on("SIGHUP", () => {
    last = last.then(() => reloadAll(reloadables(), note));
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

/** Notes for a person at a terminal, or for whoever reads what a service says. */
export const printSignalNote: SignalNote = (event, { what, signal, reason }) => {
  process.stderr.write(`${what ?? signal ?? ""}: ${MESSAGES[event]}${reason === undefined ? "" : `: ${reason}`}\n`);
};
