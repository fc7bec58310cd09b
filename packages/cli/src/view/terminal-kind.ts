import type { Language } from "@vidro/core/text";

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

/** The language of this terminal, by its locale; English where it is another one. */
export function terminalLanguage(): Language {
  const { LC_ALL, LC_MESSAGES, LANG } = process.env;
  const locale = [LC_ALL, LC_MESSAGES, LANG].find((name) => name !== undefined && name !== "") ?? "";
  const [, spoken] = LOCALE.exec(locale) ?? [];
  return LANGUAGES.find((language) => spoken?.toLowerCase() === language) ?? "en";
}

/** The language of a locale such as `pt_BR.UTF-8` or `es@euro`. */
const LOCALE = /^([a-z]+)(?:[_.@-]|$)/i;
const LANGUAGES: readonly Language[] = ["pt", "es"];
