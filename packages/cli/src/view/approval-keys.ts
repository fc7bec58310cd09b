import { asFault } from "@vidro/core";
import {
  ALWAYS_YES,
  CHANGED_YES,
  commandLine,
  countWords,
  oneLine,
  readAnswer,
  RUN_WIDE_YES,
  SHORT_ID_CHARS,
} from "@vidro/core/text";
import type { AlwaysRecord } from "@vidro/client";
import type { Json, Plan, QuestionAsked } from "@vidro/core";
import { columnsOf, USUAL_COLUMNS, wrapLine } from "./columns.ts";
import { readKey, readWords } from "./keyboard.ts";
import { paint } from "./symbols.ts";
import { indentText, peopleStream, prompt as show } from "../program/output.ts";

/** The keys of an approval in each language; `y` is a yes in all of them. */
const KEYS = {
  en: {
    yes: ["y", "yes"],
    run: "yes for this run",
    always: "always",
    change: "change, then yes",
    no: "no",
    why: "no, and say why",
    ask: "why not, or what instead?",
    help: "the keys",
  },
  pt: {
    yes: ["s", "sim"],
    run: "sim nesta execução",
    always: "sempre",
    change: "mudar, depois sim",
    no: "não",
    why: "não, e dizer por quê",
    ask: "por que não, ou o que em vez disso?",
    help: "as teclas",
  },
  es: {
    yes: ["s", "sí"],
    run: "sí en esta ejecución",
    always: "siempre",
    change: "cambiar, luego sí",
    no: "no",
    why: "no, y decir por qué",
    ask: "¿por qué no, o qué en su lugar?",
    help: "las teclas",
  },
} as const;

const ENDS = { en: "ends the run", pt: "encerra a execução", es: "termina la ejecución" } as const;

/** The words about a text that answers nothing. */
export const NO_ANSWER = {
  en: "that is no answer, nothing was done.",
  pt: "isso não é resposta, nada foi feito.",
  es: "eso no es respuesta, no se hizo nada.",
} as const;

/** Tells what "always" would mean. */
export type Review = () => Promise<AlwaysRecord>;

const ESCAPE = "\u001b";

/** A person's answer to the question about a plan or a tool, by keys or in words. */
export async function readApproval(question: QuestionAsked, signal: AbortSignal, review?: Review): Promise<string> {
  const { options, language = "en" } = question;
  const { ask, no } = KEYS[language];
  const canAdd = review !== undefined && options.includes(ALWAYS_YES);
  const keys = keyRows(question, canAdd);
  for (let prompt = keys; ;) {
    const struck = (await readKey(prompt, signal)).trim();
    const key = struck.toLowerCase();
    prompt = keys;
    if (key === "w") return refusal(await readWords(`  ${ask} `, signal));
    if (key === "r" && options.includes(RUN_WIDE_YES)) return RUN_WIDE_YES;
    if (struck === ESCAPE) return "no";
    if (key === "a" && canAdd) {
      if (await confirmAlways(question, signal, review)) return ALWAYS_YES;
      continue;
    }
    if (key === "c" && options.includes(CHANGED_YES)) {
      const changed = await changedWords(question, signal);
      if (changed !== undefined) return `${CHANGED_YES}: ${changed}`;
      continue;
    }
    // An s is short for sim and sí; in English it might as well mean skip or stop.
    const answer = key === "s" && language === "en" ? undefined : readAnswer(question, struck);
    if (answer !== undefined) return answer === CHANGED_YES ? struck : answer;
    prompt =
      key === "?"
        ? `${keys}  Esc ${no}   Ctrl-C ${ENDS[language]}\n`
        : `  ${keyName(struck)}: ${NO_ANSWER[language]}\n${keys}`;
  }
}

/** The keys in as many rows as the terminal needs. */
function keyRows({ options, language = "en" }: QuestionAsked, canAdd: boolean): string {
  const { yes, run, always, change, no, why, help } = KEYS[language];
  const shown: readonly (readonly [string, string])[] = [
    [yes[0], yes[1]],
    ...(options.includes(RUN_WIDE_YES) ? [["r", run] as const] : []),
    ...(canAdd ? [["a", always] as const] : []),
    ...(options.includes(CHANGED_YES) ? [["c", change] as const] : []),
    ["n", no],
    ["w", why],
    ["?", help],
  ];
  const stream = peopleStream();
  const columns = stream.columns || USUAL_COLUMNS;
  const rows: string[] = [];
  let row = " ";
  for (const [key, word] of shown) {
    const next = `${paint("bold", key, stream)} ${word}`;
    const gap = row === " " ? " " : "   ";
    if (row !== " " && columnsOf(row + gap + next) > columns) {
      rows.push(row);
      row = `  ${next}`;
    } else row += gap + next;
  }
  return `${[...rows, row].join("\n")}\n`;
}

/** A key as it is called. */
function keyName(struck: string): string {
  if (struck === "") return "Enter";
  return struck.startsWith(ESCAPE) ? "that key" : oneLine(struck, WORDS_CHARS);
}

/** The most characters that are repeated of a text that is no answer. */
const WORDS_CHARS = 40;

/** A refusal, with the person's reason if they gave one. */
function refusal(why: string | undefined): string {
  return why === undefined || why.trim() === "" ? "no" : `no: ${why}`;
}

const CHANGE_TO = {
  en: "run this instead",
  pt: "executar isto em vez disso",
  es: "ejecutar esto en su lugar",
} as const;
const FIELDS = {
  en: 'fields to change, as JSON: {"field": "value"}',
  pt: 'campos a mudar, em JSON: {"campo": "valor"}',
  es: 'campos a cambiar, en JSON: {"campo": "valor"}',
} as const;

/** The line or fields to run instead; undefined when nothing was said. */
async function changedWords(
  { about, language = "en" }: QuestionAsked,
  signal: AbortSignal,
): Promise<string | undefined> {
  const line = about.kind === "approval" ? editableLine(about.plan) : undefined;
  const asked = line === undefined ? FIELDS[language] : CHANGE_TO[language];
  const words = (await readWords(`  ${asked}: `, signal, { prefill: line ?? "" }))?.trim();
  return words === "" ? undefined : words;
}

function editableLine(plan: Plan | undefined): string | undefined {
  if (plan?.kind === "shell") return plan.command;
  return plan?.kind === "process" ? commandLine(plan.argv) : undefined;
}

const ALWAYS_SAYS = {
  en: {
    adds: (hand: string, id: string) => `This rule would be added to the policy of ${hand}, as ${id}:`,
    none: "No earlier action would have been allowed by it.",
    past: (count: string) => `It would have allowed ${count}, too:`,
    files: "Files that it runs are not part of the rule: whatever they hold by then is run.",
    keys: "a again adds it, any other key goes back.",
    action: "earlier action",
  },
  pt: {
    adds: (hand: string, id: string) => `Esta regra seria acrescentada à política de ${hand}, como ${id}:`,
    none: "Nenhuma ação anterior teria sido permitida por ela.",
    past: (count: string) => `Ela também teria permitido ${count}:`,
    files: "Os arquivos que ela executa não fazem parte da regra: vale o que contiverem na hora.",
    keys: "a outra vez acrescenta, qualquer outra tecla volta.",
    action: "ação anterior",
  },
  es: {
    adds: (hand: string, id: string) => `Esta regla se añadiría a la política de ${hand}, como ${id}:`,
    none: "Ninguna acción anterior habría sido permitida por ella.",
    past: (count: string) => `También habría permitido ${count}:`,
    files: "Los archivos que ejecuta no son parte de la regla: vale lo que contengan entonces.",
    keys: "a otra vez la añade, cualquier otra tecla vuelve.",
    action: "acción anterior",
  },
} as const;

/** Shows what "always" would mean; true when the person strikes the key again. */
async function confirmAlways(
  { language = "en" }: QuestionAsked,
  signal: AbortSignal,
  review: Review,
): Promise<boolean> {
  try {
    const columns = (peopleStream().columns || USUAL_COLUMNS) - MARGIN.length;
    const rows = (line: string): readonly string[] => (line.startsWith(MARGIN) ? [line] : wrapLine(line, columns));
    const inRows = (...lines: readonly string[]): string =>
      lines
        .flatMap(rows)
        .map((row) => `${MARGIN}${row}\n`)
        .join("");
    show(inRows(...reviewLines(await review(), language)));
    const key = await readKey(inRows(paint("bold", ALWAYS_SAYS[language].keys, peopleStream())), signal);
    return key.trim().toLowerCase() === "a";
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    show(`  ${oneLine(asFault(thrown).message, LINE_CHARS)}\n`);
    return false;
  }
}

const MARGIN = "  ";
const LINE_CHARS = 300;
const TASK_CHARS = 50;

/** The plans that a rule would allow, and which earlier actions it would have allowed, in lines. */
export function reviewLines(
  { hand, rule, past, count }: AlwaysRecord,
  language: "en" | "pt" | "es" = "en",
): readonly string[] {
  const says = ALWAYS_SAYS[language];
  const { id, examples: _, reason: __, ...about } = rule;
  const shown = past.map(({ run, at, task, answer }) => {
    const when = new Date(at).toISOString().slice(0, 16).replace("T", " ");
    return `  ${when} ${run.slice(-SHORT_ID_CHARS)} ${oneLine(task, TASK_CHARS)}${answer === undefined ? "" : `: ${oneLine(answer, TASK_CHARS)}`}`;
  });
  const counted = language === "en" ? countWords(count, says.action) : `${count} ${says.action}`;
  return [
    says.adds(hand, typeof id === "string" ? id : ""),
    ...indentText(ruleWords(about), 0).map((line) => `  ${line}`),
    ...(about["kind"] === "shell" || about["kind"] === "process" ? [says.files] : []),
    count === 0 ? says.none : says.past(counted),
    ...shown,
    ...(count > past.length ? [`  … +${count - past.length}`] : []),
  ];
}

function ruleWords(about: { readonly [field: string]: Json | undefined }): string {
  return Object.entries(about)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
