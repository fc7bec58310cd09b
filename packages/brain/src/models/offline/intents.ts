import type { Language } from "@vidro/core/text";
import { OFFLINE_LIMITS } from "@vidro/core";
import { wantOfFiles } from "./intents-files.ts";
import { isPort, processOrder, wantOfGit, wantOfProcess, wantsOfMachine } from "./intents-machine.ts";
import { wantsToRun } from "./intents-run.ts";
import { languageOf } from "./language.ts";
import { clausesOf, isForeign, sentenceOf, strangers } from "./sentence.ts";
import type { Sentence } from "./sentence.ts";
import type { Understanding, Want } from "./want.ts";

/** What a task wants, read by itself and, where it leans on the one before it, together with that. */
export function understand(task: string, before?: Understanding): Understanding {
  const language = languageOf(task.slice(0, OFFLINE_LIMITS.taskChars), before?.language ?? "en");
  // Half of a task may mean something else than the whole of it.
  if (task.length > OFFLINE_LIMITS.taskChars) return { language, wants: [], leftOut: 0 };
  const sentence = sentenceOf(task);
  const all = followUp(sentence, before) ?? wantsOf(sentence, language);
  const most = all[0]?.kind === "run" ? OFFLINE_LIMITS.commands : OFFLINE_LIMITS.wants;
  return { language, wants: all.slice(0, most), leftOut: Math.max(0, all.length - most) };
}

function wantsOf(sentence: Sentence, language: Language): readonly Want[] {
  const commands = wantsToRun(sentence);
  if (commands.length > 0) return commands;
  const whole = wantsInOne(sentence, language);
  const clauses = clausesOf(sentence).map((clause) => wantsInOne(clause, language));
  const isMany = clauses.length > 1 && clauses.every((wants) => wants.length > 0);
  if (!isMany || isOneList(whole, sentence)) return whole;
  const wants = distinct(clauses.flat());
  return wants.length > 1 ? wants.filter((want) => want.kind !== "self") : wants;
}

/** "Which processes use most CPU and memory" is one question, although "memory" alone would be another. */
function isOneList(whole: readonly Want[], sentence: Sentence): boolean {
  return whole.length === 1 && whole[0]?.kind === "processes" && /\b(most|mais|mas|top)\b/.test(sentence.plain);
}

function wantsInOne(sentence: Sentence, language: Language): readonly Want[] {
  const commands = wantsToRun(sentence);
  if (commands.length > 0) return commands;
  const spoken = withoutIdioms(sentence);
  if (isForeign(spoken)) return [];
  const one = wantOfProcess(sentence) ?? wantOfGit(sentence) ?? wantOfFiles(sentence);
  return one === undefined ? wantsOfMachine(sentence, language) : [one];
}

const IDIOMS =
  /\b(last (reboot|restart|boot)|did (i|we|you) (change|modify)|is (the |my |this )?(repo|repository|tree|working tree) (still )?clean|(puedes|sabes) hacer)\b/g;

// "Reboot" is an order that no rule carries out, "the last reboot" is a date.
function withoutIdioms(sentence: Sentence): Sentence {
  return { ...sentence, words: sentence.words.join(" ").replace(IDIOMS, "").split(" ") };
}

function distinct(wants: readonly Want[]): readonly Want[] {
  const seen = new Set<string>();
  return wants.filter((want) => {
    const key = JSON.stringify(want);
    return !seen.has(key) && seen.add(key);
  });
}

const AGAIN = new Set(
  "again once repeat refresh novo novamente vez outra repita atualizado otra nuevo repite now agora ahora".split(" "),
);
const ORDER =
  /^(?:and |e |y )?(?:sorted |ordered |ordenados )?(?:by|por|pela|pelo) (?:the |la |el |o |a )?(memory|ram|memoria|cpu|processador|procesador)[ ?.!]*$/;

function followUp(sentence: Sentence, before: Understanding | undefined): readonly Want[] | undefined {
  const last = before?.wants.at(-1);
  if (before === undefined || last === undefined || sentence.words.length > OFFLINE_LIMITS.followUpWords)
    return undefined;
  if (ORDER.test(sentence.plain) && last.kind === "processes") return [{ ...last, by: processOrder(sentence) }];
  if (sentence.words.length === 0 || isForeign(sentence) || strangers(sentence, [AGAIN, PLACE]) > 0) return undefined;
  const path = sentence.operands[0]?.text;
  if (path !== undefined) return elsewhere(last, path);
  const number = sentence.words.map(Number).find(isPort);
  if (number !== undefined && last.kind === "ports") return [{ kind: "ports", port: number }];
  return sentence.words.some((word) => AGAIN.has(word)) && last.kind !== "run" ? before.wants : undefined;
}

const PLACE = new Set("folder directory pasta diretorio carpeta directorio file arquivo archivo".split(" "));

function elsewhere(want: Want, path: string): readonly Want[] | undefined {
  const isPlaced = want.kind === "disk" || want.kind === "largest" || want.kind === "list" || want.kind === "read";
  return isPlaced || want.kind === "find" || want.kind === "search" ? [{ ...want, path }] : undefined;
}
