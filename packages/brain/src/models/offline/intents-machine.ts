import type { Language } from "@vidro/core/text";
import { GIT_COMPANIONS, GIT_EFFECTS, GIT_NOUNS } from "./file-words.ts";
import { has, strangers } from "./sentence.ts";
import type { Sentence } from "./sentence.ts";
import { COVERS, TOPICS } from "./topics.ts";
import type { Topic, TopicKind } from "./topics.ts";
import type { GitAspect, Want } from "./want.ts";
import { STOP_WORDS } from "./words.ts";

/** What a sentence wants to know of the machine: one want for each topic that it names and that no other covers. */
export function wantsOfMachine(sentence: Sentence, language: Language): readonly Want[] {
  const found = topicsIn(sentence, language);
  if (found.size === 0) return [];
  const words = new Set(
    [...found.values()].flatMap((topic) => [...topic.strong, ...topic.weak].flatMap((each) => each.split(" "))),
  );
  const unknown = strangers(sentence, [words]);
  const known = sentence.words.filter((word) => words.has(word) && !isStop(word)).length;
  // One odd word among several that fit ("on the staging box") is forgiven; one for one is another subject.
  if (unknown > 1 || (unknown === 1 && known < 2)) return [];
  const covered = new Set([...found.keys()].flatMap((kind) => COVERS[kind] ?? []));
  const kinds = [...found.keys()].filter((kind) => !covered.has(kind) && (kind !== "self" || found.size === 1));
  // An operand changes the question ("is port 80 open on example.org"), and only a disk's can be answered.
  const isElsewhere = sentence.operands.some(({ text }) => !text.includes("/"));
  if (sentence.operands.length > 0 && (isElsewhere || kinds.some((kind) => kind !== "disk"))) return [];
  return kinds.map((kind) => wantOf(kind, sentence));
}

function topicsIn(sentence: Sentence, language: Language): ReadonlyMap<TopicKind, Topic> {
  const spoken = ` ${sentence.words.join(" ")} `;
  const places = new Map<TopicKind, { topic: Topic; at: number }>();
  for (const topic of TOPICS) {
    const english = topic.en.strong.filter((word) => language === "en" || !STOP_WORDS[language].has(word));
    const strong = [...english, ...(language === "en" ? [] : topic[language].strong)];
    const at = strong.map((phrase) => spoken.indexOf(` ${phrase} `)).filter((index) => index >= 0);
    const vocabulary = { strong, weak: [...topic.en.weak, ...topic[language].weak] };
    if (at.length > 0) places.set(topic.kind, { topic: vocabulary, at: Math.min(...at) });
  }
  const inOrder = [...places].sort(([, a], [, b]) => a.at - b.at);
  return new Map(inOrder.map(([kind, { topic }]) => [kind, topic]));
}

function isStop(word: string): boolean {
  return STOP_WORDS.en.has(word) || STOP_WORDS.pt.has(word) || STOP_WORDS.es.has(word);
}

function wantOf(kind: TopicKind, sentence: Sentence): Want {
  if (kind === "processes") return { kind, by: processOrder(sentence) };
  if (kind === "disk") {
    const path = sentence.operands[0]?.text;
    return path === undefined ? { kind } : { kind, path };
  }
  if (kind === "ports") {
    const port = sentence.words.map(Number).find(isPort);
    return port === undefined ? { kind } : { kind, port };
  }
  return { kind };
}

/** Whether a number can be that of a port. */
export function isPort(number: number): boolean {
  return Number.isInteger(number) && number > 0 && number < 65_536;
}

const MEMORY_WORDS = /\b(memory|ram|memoria|mem)\b/;
const CPU_WORDS = /\b(cpu|cpus|processor|processador|procesador)\b/;

/** By what processes are to be ordered: what is named first, else the CPU. */
export function processOrder(sentence: Sentence): "cpu" | "mem" {
  const memory = sentence.plain.search(MEMORY_WORDS);
  const cpu = sentence.plain.search(CPU_WORDS);
  return memory >= 0 && (cpu < 0 || memory < cpu) ? "mem" : "cpu";
}

const NAMED_PROCESS: readonly RegExp[] = [
  /^is (?:the )?(\S+)(?: process)? (?:running|alive|up)$/,
  /\bprocess(?:es)? (?:named|called|matching) (\S+)$/,
  /\bhow much (?:memory|ram|cpu) (?:does|is) (?:the )?(\S+)(?: process)? (?:use|using|take|taking|consume)$/,
  /^(?:o |a )?(\S+) esta (?:rodando|executando|em execucao|no ar)$/,
  /\bprocessos? (?:chamados?|com (?:o )?nome) (\S+)$/,
  /\bquanta memoria (?:o |a )?(\S+) (?:usa|esta usando|consome)$/,
  /^(?:el |la )?(\S+) esta (?:corriendo|ejecutandose|en ejecucion)$/,
  /^esta (?:corriendo|ejecutandose|en ejecucion) (?:el |la )?(\S+)$/,
  /\bprocesos? (?:llamados?|con (?:el )?nombre) (\S+)$/,
  /\bcuanta memoria (?:usa|consume) (?:el |la )?(\S+)$/,
];

/** A question about the processes of one name. */
export function wantOfProcess(sentence: Sentence): Want | undefined {
  const spoken = sentence.words.join(" ");
  const word = NAMED_PROCESS.map((pattern) => pattern.exec(spoken)?.[1]).find((name) => name !== undefined);
  if (word === undefined) return undefined;
  const name = word.startsWith("§") ? sentence.operands[0]?.text : sentence.spelling(word);
  const isNoName = name === undefined || strangers({ words: [word] }, [NOT_A_PROCESS]) === 0;
  return isNoName && !word.startsWith("§")
    ? undefined
    : { kind: "processes", by: processOrder(sentence), name: name ?? word };
}

const NOT_A_PROCESS: ReadonlySet<string> = new Set(
  "everything anything something git cpu memory disk tudo algo memoria disco todo machine network".split(" "),
);

const GIT_PHRASES =
  /\b(what|anything|something) (has |have |did )?(i |we |been )?(changed?|modif(y|ied))\b|\bo que (mudou|foi alterado|foi modificado|alterei|mudei)\b|\bque (ha cambiado|cambio|cambios|se ha modificado|he cambiado)\b|\b(files|arquivos|archivos|ficheros) (have |has |been |foram |han |se han )*(changed|modified|mudaram|alterados|modificados|cambiado|cambiaron)\b|\b(mudancas?|alteracoes) (nao commitadas?|pendentes?)\b|\bcambios (sin confirmar|pendientes)\b|\buncommitted\b|\blast commit\b|\bultimo commit\b/;

/** A question about the repository in which the hand works. */
export function wantOfGit(sentence: Sentence): Want | undefined {
  const spoken = sentence.words.join(" ");
  if (!has(sentence, GIT_NOUNS) && !GIT_PHRASES.test(spoken)) return undefined;
  if (has(sentence, GIT_EFFECTS) || /^(please )?commit\b/.test(spoken)) return undefined;
  if (strangers(sentence, [GIT_NOUNS, GIT_COMPANIONS, CHANGE_EXTRAS]) > 0) return undefined;
  return { kind: "git", about: aspectOf(spoken) };
}

const CHANGE_EXTRAS: ReadonlySet<string> = new Set([
  "anything",
  "something",
  "changed",
  "alterei",
  "mudei",
  "alterado",
  "mudanca",
  "commitada",
  "commitadas",
  "pendente",
  "foram",
  "han",
  "confirmar",
  "modificado",
  "he",
  "ha",
]);

function aspectOf(spoken: string): GitAspect {
  if (/\b(commits?|log|history|historico|historial)\b/.test(spoken)) return "log";
  if (/\b(branch|branches|ramas?|ramos?)\b/.test(spoken)) return "branch";
  if (/\b(diff|chang\w+|modified|mud\w+|altera\w+|alterei|modificad\w+|cambi\w+|uncommitted)\b/.test(spoken))
    return "changes";
  return "status";
}
