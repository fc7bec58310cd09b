/** A sentence of --help in the languages that there are. */
export type HelpRow = readonly [en: string, pt: string, es: string];
