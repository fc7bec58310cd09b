/** What this terminal calls itself, as `xterm-256color`. */
export function terminalName(): string | undefined {
  return process.env["TERM"];
}

/** Whether the locale of this process says that its terminal shows no UTF-8. */
export function isAsciiTerminal(): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => name !== undefined && name !== "");
  return locale !== undefined && !/utf-?8/i.test(locale);
}
