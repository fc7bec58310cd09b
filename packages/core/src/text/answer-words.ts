import type { QuestionAsked } from "../event.ts";

/** Words for yes and no in English, Portuguese and Spanish, without accents. */
const YES: ReadonlySet<string> = new Set(
  "y yes yeah yep ok okay sure approve approved allow s sim pode aprovo aprovado permitir si claro dale apruebo aprobado".split(
    " ",
  ),
);
const NO: ReadonlySet<string> = new Set(
  "n no nope nay never deny denied reject rejected nao nunca nego negado recuso rechazo rechazado".split(" "),
);
/** A no followed by its reason. */
const NO_BECAUSE = /^(?:no|nope|nao)(?:\s*[,.:;!\u2013\u2014-]+\s*|\s+(?=because\b|since\b|porque\b|pois\b))\S/;
const MARKS = /[\p{M}]/gu;
const EDGES = /^[\s"'`.,!¡()*_]+|[\s"'`.,!()*_]+$/g;

/** The answer of a client that has no person to ask: it approves nothing, and is no person's no. */
export const UNASKED_ANSWER = "no: no person could be asked";

/** The answer that approves a plan, and the same plan again in the same run. */
export const RUN_WIDE_YES = "yes for this run";

/** What people write for it, in English, Portuguese and Spanish, without accents and commas. */
const RUN_WIDE = /^(?:yes|y|sim|si) (?:for|in|para|em|en|nesta) ?(?:this|the|esta|a|la)? ?(?:run|execucao|ejecucion)$/;

/** Whether an answer approves an effect: a plan, or a proposed tool. */
export function isApproval({ about, options }: Pick<QuestionAsked, "about" | "options">, answer: string): boolean {
  return (about.kind === "approval" || about.kind === "tool") && (answer === options[0] || answer === RUN_WIDE_YES);
}

/**
 * The recorded answer for a text: one of the options, or a no with its reason. Undefined when the text is neither, so
 * that the person is asked again. A question without options accepts any text.
 */
export function readAnswer(
  { about, options }: Pick<QuestionAsked, "about" | "options">,
  words: string,
): string | undefined {
  if (about.kind === "ask" || about.kind === "call") return words;
  const said = words.normalize("NFD").replaceAll(MARKS, "").toLowerCase().replaceAll(EDGES, "");
  const [on, off] = options;
  const option = options.find((each) => each.toLowerCase() === said);
  if (option !== undefined) return option;
  if (options.includes(RUN_WIDE_YES) && RUN_WIDE.test(said.replaceAll(",", ""))) return RUN_WIDE_YES;
  if (YES.has(said)) return on;
  if (NO.has(said)) return off;
  return NO_BECAUSE.test(said) ? words.trim() : undefined;
}
