import { OFFLINE_LIMITS } from "@vidro/core";
import { classify } from "./classifier.ts";
import type { Guess } from "./classifier.ts";
import { commandLineIn } from "./command-line.ts";
import { isElsewhere, leavesName } from "./elsewhere.ts";
import { followUp, OF_PROGRAM, sameOfOther } from "./follow-up.ts";
import { lacksPath, onPathOf, withReferent } from "./lean.ts";
import { isWorldwide, languageChances, letteredLanguage, likeliest } from "./language.ts";
import { readWants } from "./read-want.ts";
import { requestsIn, withoutStatements } from "./reasons.ts";
import { operands, withFolders } from "./slots.ts";
import { looksLikeFile, tokensOf } from "./tokens.ts";
import type { Token } from "./tokens.ts";
import { isChange } from "./want.ts";
import type { Intent, Understanding, Want } from "./want.ts";
import { isGenericWord } from "./words.ts";

/** Below this probability an intent is not believed. */
const BELIEVED = 0.5;
/** Below this probability an intent has to be clearly ahead of the next one, by so much. */
const LIKELY = 0.7;
const CLEAR = 0.15;
/** The same, where the next one is that the model can do nothing for the sentence: a wrong answer is worse than none. */
const CLEAR_OF_NONE = 0.2;
/** Above this probability a sentence is one request, whatever its parts may mean. */
const CERTAIN = 0.9;
/** Above this probability a request is believed that stands beside a reason. */
const PLAIN = 0.8;
/** Things that are offered when a task is not understood. */
const OFFERED = 3;

/** What a task wants, read by itself and, where it leans on the one before it, together with that. */
export function understand(task: string, before?: Understanding): Understanding {
  const text = task.slice(0, OFFLINE_LIMITS.taskChars);
  const tokens = withFolders(tokensOf(text));
  const words = tokens.slice(0, OFFLINE_LIMITS.taskWords).map(({ plain }) => plain);
  const guesses = classify(words);
  const spoken = before?.language ?? "en";
  // A command line speaks English whatever its writer speaks.
  const tellsNone = commandLineIn(text) !== undefined || isWorldwide(words);
  const language = letteredLanguage(text) ?? (tellsNone ? spoken : likeliest(languageChances(words), spoken));
  const nearest = guesses.flatMap(({ intent }) => intent ?? []).slice(0, OFFERED);
  // Half of a task may mean something else than the whole of it.
  const isShort = tokens.length <= OFFLINE_LIMITS.taskWords || quotedCommands(tokens).length > 0;
  const all = text === task && isShort ? wantsOf({ text, tokens, guesses }, before) : [];
  const most = all[0]?.kind === "run" ? OFFLINE_LIMITS.commands : OFFLINE_LIMITS.wants;
  return { language, wants: all.slice(0, most), leftOut: Math.max(0, all.length - most), nearest };
}

interface Task {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly guesses: readonly Guess[];
}

function wantsOf({ text, tokens, guesses }: Task, before: Understanding | undefined): readonly Want[] {
  const line = commandLineIn(text);
  if (line !== undefined) return [{ kind: "run", command: line }];
  const commands = quotedCommands(tokens);
  if (commands.length > 0) return commands;
  const leaning = before === undefined ? undefined : followUp(tokens, before);
  if (leaning !== undefined) return leaning;
  const alone = wantsAlone(tokens, guesses);
  const last = before?.wants.at(-1);
  if (last === undefined) return alone;
  const leant = leanedWants(tokens, alone, last);
  return leant.length > 0 ? leant : ofSame(tokens, last);
}

/** The wants of a sentence by itself. */
function wantsAlone(tokens: readonly Token[], guesses: readonly Guess[]): readonly Want[] {
  const question = withoutStatements(tokens);
  const asked = question.length < tokens.length ? wantsOfClause(question) : [];
  if (asked.length > 0) return asked;
  const parts = clausesOf(tokens);
  const clauses = wantsOfClauses(parts);
  const isMany = clauses.length > 1 && clauses.every((wants) => wants.length > 0);
  const isOne = isOneRequest(guesses[0], clauses.flat()) && !areWhole(parts, clauses);
  if (isMany && !isOne) return distinct(clauses.flat());
  const whole = wantsInOne(tokens, guesses);
  return whole.length > 0 ? whole : wantsWithoutReasons(tokens);
}

/** The wants of each clause; one that says "it" leans on the one before. */
function wantsOfClauses(parts: readonly (readonly Token[])[]): readonly (readonly Want[])[] {
  const all: (readonly Want[])[] = [];
  for (const clause of parts) {
    const last = all.at(-1)?.at(-1);
    const same = last === undefined ? undefined : sameOfOther(clause, last);
    const alone = same ?? wantsOfClause(clause);
    all.push(last === undefined || same !== undefined ? alone : leanedWants(clause, alone, last));
  }
  return all;
}

/** The wants of a sentence that may lean on an earlier one: by "it" and the like, or by naming nothing to ask about. */
function leanedWants(tokens: readonly Token[], alone: readonly Want[], last: Want): readonly Want[] {
  const replaced = withReferent(tokens, last);
  const isOwn = alone.length > 0 && !lacksPath(alone);
  if (isOwn && (replaced === undefined || chanceOf(tokens) >= chanceOf(replaced))) return alone;
  const wants = replaced === undefined ? [] : wantsOfClause(replaced);
  const isLeaning = wants.some(({ path, name }) => path === last.path && name === last.name);
  if (isLeaning && !wants.some(({ kind }) => isChange(kind))) return wants;
  return tokens.length <= OFFLINE_LIMITS.followUpWords ? onPathOf(alone, tokens, last) : alone;
}

/** What a few words mean of the program or the file that was asked about: "which version?", "¿cuándo se modificó?". */
function ofSame(tokens: readonly Token[], { kind, name, path }: Want): readonly Want[] {
  if (tokens.length > OFFLINE_LIMITS.followUpWords) return [];
  if (path !== undefined && looksLikeFile(path)) {
    const token = { plain: "§file", written: path, kind: "file", endsClause: false } as const;
    const wants = wantsOfClause([...tokens, token]);
    return wants.every((want) => want.path === path && !isChange(want.kind)) ? wants : [];
  }
  if (name === undefined || !OF_PROGRAM.has(kind)) return [];
  const wants = wantsOfClause([...tokens, { plain: name.toLowerCase(), written: name, endsClause: false }]);
  return wants.every((want) => OF_PROGRAM.has(want.kind) && want.name === name) ? wants : [];
}

function chanceOf(tokens: readonly Token[]): number {
  return classify(tokens.map(({ plain }) => plain)).find(({ intent }) => intent !== undefined)?.probability ?? 0;
}

/** The wants of what a sentence asks beside its reasons; only looks, and only what is very probable. */
function wantsWithoutReasons(tokens: readonly Token[]): readonly Want[] {
  for (const request of requestsIn(tokens)) {
    const guesses = classify(request.map(({ plain }) => plain));
    const [first] = guesses;
    const kin = guesses.filter(({ intent }) => areKin(intent, first?.intent));
    const probability = kin.reduce((sum, each) => sum + each.probability, 0);
    if (first?.intent === undefined || isChange(first.intent) || probability < PLAIN) continue;
    const wants = wantsInOne(request, guesses);
    if (wants.length > 0) return wants;
  }
  return [];
}

function wantsOfClause(tokens: readonly Token[]): readonly Want[] {
  const commands = quotedCommands(tokens);
  return commands.length > 0 ? commands : wantsInOne(tokens, classify(tokens.map(({ plain }) => plain)));
}

/** Intents that answer the same question: which of them is meant need not be clear. */
const KIN: readonly (readonly Intent[])[] = [
  ["running", "service", "processes-count"],
  ["list", "find"],
  ["file-info", "find"],
  ["installed", "version"],
  ["file-info", "folder-size"],
  ["largest", "largest-folders"],
  ["git-status", "git-diff"],
  ["git-author", "git-show"],
  ["time", "date"],
];

function areKin(one: Intent | undefined, other: Intent | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one === other || KIN.some((intents) => intents.includes(one) && intents.includes(other));
}

/** How many guesses are tried, and how probable each has to be by itself. */
const TRIED = 4;
const LEAST = 0.02;

/**
 * The wants of the most probable intent for which the sentence has all that it needs. Where an intent does not read a
 * name or an operand of the sentence, it is not meant, and the others share its probability.
 */
function wantsInOne(tokens: readonly Token[], guesses: readonly Guess[]): readonly Want[] {
  let rest = 1;
  for (const [at, { intent: guessed, probability: own }] of guesses.slice(0, TRIED).entries()) {
    const kin = guesses.slice(at).filter(({ intent }) => areKin(intent, guessed));
    const probability = kin.reduce((sum, each) => sum + each.probability, 0) / rest;
    const next = guesses.slice(at + 1).find((each) => !kin.includes(each) && isRival(tokens, each));
    const intent = intentIfBelieved({ intent: guessed, probability });
    if (intent === undefined || own < LEAST) return [];
    if (!isAhead(probability, next && { ...next, probability: next.probability / rest })) return [];
    if (isChange(intent) && probability < LIKELY) return [];
    const wants = readWants(tokens, intent);
    const isNamed = wants !== undefined && leavesName(tokens, wants);
    if (wants !== undefined && !(at > 0 && isNamed) && !isElsewhere(tokens, wants, probability)) return wants;
    if (!isNamed || isChange(intent)) return [];
    rest -= own;
  }
  return [];
}

/** Whether a guess could be meant as well: one that does not read a name of the sentence could not. */
function isRival(tokens: readonly Token[], { intent, probability }: Guess): boolean {
  if (intent === undefined || probability < LEAST) return true;
  const wants = readWants(tokens, intent);
  return wants !== undefined && !leavesName(tokens, wants);
}

function isAhead(probability: number, next: Guess | undefined): boolean {
  const least = next?.intent === undefined ? CLEAR_OF_NONE : CLEAR;
  return probability >= LIKELY || probability - (next?.probability ?? 0) >= least;
}

function intentIfBelieved(guess: Guess | undefined): Intent | undefined {
  return guess !== undefined && guess.probability >= BELIEVED ? guess.intent : undefined;
}

/** Words that a clause has at least which asks for something by itself. */
const WHOLE = 3;

/** Whether each clause asks for something else and leaves nothing out: "which branch is this, and how many commits are there". */
function areWhole(parts: readonly (readonly Token[])[], clauses: readonly (readonly Want[])[]): boolean {
  const kinds = new Set(clauses.map(([want]) => want?.kind));
  // "The server crawls, what slows it down" asks for one thing, and says why.
  const isBusy = kinds.has("top-cpu") || kinds.has("top-memory");
  const isWhole = (clause: readonly Token[]) =>
    clause.length >= WHOLE && clause.some(({ plain, kind }) => kind === undefined && !isGenericWord(plain));
  return kinds.size === clauses.length && !isBusy && parts.every(isWhole);
}

/** "Which processes use most CPU and memory" is one question, although "memory" alone would be another. */
function isOneRequest(guess: Guess | undefined, parts: readonly Want[]): boolean {
  if (guess?.intent === undefined) return false;
  if (/^(top-|rename|copy|git-|commit|largest)/.test(guess.intent)) return guess.probability >= 0.5;
  return guess.probability >= CERTAIN && !parts.some(({ kind }) => kind === guess.intent);
}

const RUN_WORDS: ReadonlySet<string> = new Set(
  `run execute exec launch rode roda rodar executa executar rodem ejecuta ejecutar ejecute corre corra correr lanza command
   commands following shell terminal program script comando comandos seguinte seguintes siguiente siguientes programa first
   next finally after primeiro depois primero luego despues then these estes estos tests testes pruebas output saida salida
   result resultado and e y`.split(/\s+/),
);
const RUN_VERBS =
  /^(run|execute|exec|launch|rode|roda|rodar|executa|executar|rodem|ejecuta|ejecutar|ejecute|corre|corra|correr|lanza)$/;

/** The commands in quotes behind a verb such as "run", in their order. */
function quotedCommands(tokens: readonly Token[]): readonly Want[] {
  const quoted = operands(tokens, "quote");
  const others = tokens.filter(({ kind }) => kind !== "quote");
  const isOrder = others.some(({ plain }) => RUN_VERBS.test(plain));
  const isOnly = others.every(({ plain }) => RUN_WORDS.has(plain) || isGenericWord(plain));
  if (quoted.length === 0 || !isOrder || !isOnly) return [];
  return quoted.map(({ written }) => ({ kind: "run", command: written.trim() }));
}

// Tested on what was written: `é` is no `e`.
const JOINTS = /^(and|&|e|y|then|depois|luego|também|tambem|también|tambien|also|plus|después|despues)$/i;

/** The clauses of a sentence. */
function clausesOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const clauses: Token[][] = [[]];
  for (const token of tokens) {
    if (JOINTS.test(token.written)) clauses.push([]);
    else clauses.at(-1)?.push(token);
    if (token.endsClause) clauses.push([]);
  }
  // "What is it" and "please" ask for nothing by themselves; "who am I" does.
  const isAboutSelf = (clause: readonly Token[]) => {
    const [guess] = classify(clause.map(({ plain }) => plain));
    return guess?.intent === "whoami" && guess.probability >= CERTAIN;
  };
  return clauses.filter(
    (clause) =>
      clause.some(({ plain, kind }) => kind !== undefined || !isGenericWord(plain)) ||
      (clause.length > 1 && isAboutSelf(clause)),
  );
}

/** Intents whose answer is part of another one's: the clock tells the date, and the system its kernel. */
const SAID_WITH: ReadonlyMap<Intent, Intent> = new Map([
  ["date", "time"],
  ["kernel", "os"],
]);

function distinct(wants: readonly Want[]): readonly Want[] {
  const seen = new Set<string>();
  const found = wants.filter((want) => {
    const key = JSON.stringify({ ...want, kind: SAID_WITH.get(want.kind) ?? want.kind });
    return !seen.has(key) && seen.add(key);
  });
  const [first, second] = found;
  // "Look at app.log and tell me the errors": the second names no file, and means the first.
  const isSame = second?.path === undefined || second.path === first?.path;
  if (found.length === 2 && first?.kind === "read" && second?.kind === "log-errors" && isSame)
    return [{ ...second, ...(first.path === undefined ? {} : { path: first.path }) }];
  // So it is in "is notes.txt long? how many lines".
  const isRepeated = ({ kind, path }: Want) =>
    (path === "." || (path === undefined && kind === "log-errors")) &&
    found.some((other) => other.kind === kind && other.path !== path);
  return found.length > 1 ? found.filter((want) => want.kind !== "help" && !isRepeated(want)) : found;
}
