import type { JsonObject } from "../json.ts";
import type { Language } from "./language.ts";
import { quoteWord, escapeInvisible } from "./printable.ts";
import type { Action, FetchPlan, FilePlan, Plan, ProcessPlan, ShellPlan, StateAccess, Verdict } from "../tool.ts";
import { reasonWords } from "./reason-words.ts";
import { planWords, spanWords } from "./words.ts";

/** The approval that a person is asked for. */
export interface Approvable {
  readonly plan: Plan;
  readonly verdict: Verdict;
  readonly action?: Action | undefined;
  /** The host on which it would happen. */
  readonly hand?: string;
}

/** One fact of an approval: its name and its text, which may have several lines. */
export type ApprovalRow = readonly [name: string, text: string];

interface Phrases {
  readonly may: string;
  readonly rows: { readonly [row in RowName]: string };
  readonly asUser: string;
  /** What a command that acts as the user finds where Vidro's own state is. */
  readonly states: { readonly [state in StateAccess]: string };
  readonly sandboxed: string;
  readonly asNow: string;
  /** How a program in the background ends. */
  readonly ends: { readonly run: string; readonly kept: string };
  /** What the named programs and scripts may do that no fingerprint covers. */
  readonly besides: (names: string) => string;
  readonly inside: string;
  readonly outside: string;
  /** A yes for this run, and what it covers of a file. */
  readonly runWide: string;
  readonly wide: { readonly [operation in FilePlan["operation"]]: string };
  /** The addresses that a page may be fetched from. */
  readonly reaches: { readonly [reach in FetchPlan["reach"]]: string };
  readonly rule: string;
  /** How to answer in a conversation, with the run and the question. */
  readonly answer: (run: string, question: string) => string;
}

type RowName =
  | "action"
  | "host"
  | "command"
  | "program"
  | "in"
  | "limit"
  | "script"
  | "unseen"
  | "background"
  | "input"
  | "shell"
  | "access"
  | "file"
  | "where"
  | "covers"
  | "page"
  | "facts"
  | "tool"
  | "class"
  | "why";

const PHRASES: { readonly [L in Language]: Phrases } = {
  en: {
    may: "May this be done?",
    rows: {
      action: "action",
      host: "host",
      command: "command",
      program: "program",
      in: "in",
      limit: "limit",
      script: "script",
      unseen: "not covered",
      background: "background",
      input: "input",
      shell: "shell",
      access: "access",
      file: "file",
      where: "where",
      covers: "covers",
      page: "page",
      facts: "facts",
      tool: "tool",
      class: "class",
      why: "why",
    },
    asUser: "host: everything that the hand's user may do",
    states: {
      hidden: "without Vidro's own state",
      open: "and it can reach Vidro's own state: keys, tokens, policy, journal",
    },
    sandboxed: "held by a sandbox",
    asNow: "as it is now",
    ends: { run: "ends with the run", kept: "goes on after the run has ended, until it is stopped or its limit" },
    besides: (names) => `what ${names} may load, include or run besides`,
    inside: "in the workspace",
    outside: "outside the workspace",
    runWide: "yes for this run",
    wide: {
      write: "every later edit of this file in this run, whatever its content",
      read: "every later reading of this file in this run, whatever it holds then",
    },
    reaches: {
      public: "the public internet; what the address says leaves this network",
      any: "also private addresses, because the policy names this host",
    },
    rule: "rule",
    answer: (run, question) => `Run ${run} waits with question ${question}: your next message is the answer.`,
  },
  pt: {
    may: "Isto pode ser feito?",
    rows: {
      action: "ação",
      host: "máquina",
      command: "comando",
      program: "programa",
      in: "em",
      limit: "limite",
      script: "script",
      unseen: "não coberto",
      background: "segundo plano",
      input: "entrada",
      shell: "shell",
      access: "acesso",
      file: "arquivo",
      where: "onde",
      covers: "cobre",
      page: "página",
      facts: "fatos",
      tool: "função",
      class: "classe",
      why: "porquê",
    },
    asUser: "host: tudo o que o usuário da máquina pode fazer",
    states: {
      hidden: "sem o estado do próprio Vidro",
      open: "e alcança o estado do próprio Vidro: chaves, tokens, política, diário",
    },
    sandboxed: "contido por uma sandbox",
    asNow: "como está agora",
    ends: { run: "termina com a execução", kept: "continua depois do fim da execução, até ser parado ou até o limite" },
    besides: (names) => `o que ${names} pode carregar, incluir ou executar além disso`,
    inside: "na pasta de trabalho",
    outside: "fora da pasta de trabalho",
    runWide: "sim nesta execução",
    wide: {
      write: "toda edição posterior deste arquivo nesta execução, qualquer que seja o conteúdo",
      read: "toda leitura posterior deste arquivo nesta execução, o que quer que ele contenha então",
    },
    reaches: {
      public: "a internet pública; o que o endereço diz sai desta rede",
      any: "também endereços privados, porque a política nomeia esta máquina",
    },
    rule: "regra",
    answer: (run, question) =>
      `A execução ${run} espera com a pergunta ${question}: a sua próxima mensagem é a resposta (sim ou não).`,
  },
  es: {
    may: "¿Se puede hacer esto?",
    rows: {
      action: "acción",
      host: "máquina",
      command: "comando",
      program: "programa",
      in: "en",
      limit: "límite",
      script: "script",
      unseen: "no cubierto",
      background: "segundo plano",
      input: "entrada",
      shell: "shell",
      access: "acceso",
      file: "archivo",
      where: "dónde",
      covers: "cubre",
      page: "página",
      facts: "datos",
      tool: "función",
      class: "clase",
      why: "porqué",
    },
    asUser: "host: todo lo que el usuario de la máquina puede hacer",
    states: {
      hidden: "sin el estado del propio Vidro",
      open: "y alcanza el estado del propio Vidro: claves, tokens, política, diario",
    },
    sandboxed: "contenido por una sandbox",
    asNow: "como está ahora",
    ends: {
      run: "termina con la ejecución",
      kept: "sigue después del fin de la ejecución, hasta que se pare o hasta el límite",
    },
    besides: (names) => `lo que ${names} pueda cargar, incluir o ejecutar además`,
    inside: "en la carpeta de trabajo",
    outside: "fuera de la carpeta de trabajo",
    runWide: "sí en esta ejecución",
    wide: {
      write: "toda edición posterior de este archivo en esta ejecución, sea cual sea su contenido",
      read: "toda lectura posterior de este archivo en esta ejecución, contenga lo que contenga entonces",
    },
    reaches: {
      public: "la internet pública; lo que dice la dirección sale de esta red",
      any: "también direcciones privadas, porque la política nombra esta máquina",
    },
    rule: "regla",
    answer: (run, question) =>
      `La ejecución ${run} espera con la pregunta ${question}: su próximo mensaje es la respuesta (sí o no).`,
  },
};

/** The sentence that asks for an approval, before its rows. */
export function approvalAsked(language: Language = "en"): string {
  return PHRASES[language].may;
}

/** How the question of a run is answered in a conversation. */
export function answerWords(run: string, question: string, language: Language = "en"): string {
  return PHRASES[language].answer(run, question);
}

/** The text of an approval: the whole plan, never shortened. */
export function approvalWords(approvable: Approvable, language: Language = "en"): string {
  const rows = approvalRows(approvable, language);
  return [approvalAsked(language), ...rows.map(([name, text]) => `${name}: ${text.replaceAll("\n", "\n  ")}`)].join(
    "\n",
  );
}

/** The facts that a person needs to decide; no text contains terminal control characters. */
export function approvalRows(approvable: Approvable, language: Language = "en"): readonly ApprovalRow[] {
  const { plan, verdict, action, hand } = approvable;
  const phrases = PHRASES[language];
  const { rows } = phrases;
  return [
    ...planRows(plan, phrases),
    ...(writesFiles(plan) ? inputRows(action?.input ?? {}) : []),
    ...(hand === undefined ? [] : [[rows.host, quoteWord(hand)] as const]),
    [rows.class, `${verdict.class}, ${phrases.rule} ${escapeInvisible(verdict.rule)}`],
    [rows.why, lines(reasonWords(verdict.reason, language))],
    ...(action === undefined ? [] : [[rows.action, action.id] as const]),
  ];
}

/** Names of the rows that explain in sentences; all others have words of the plan, which are shown to the letter. */
export function explainingRows(language: Language = "en"): ReadonlySet<string> {
  const { access, where, covers, background, unseen, why } = PHRASES[language].rows;
  return new Set([access, where, covers, background, unseen, why]);
}

/** What a yes for this run covers beyond the plan that is shown; undefined when it covers the same plan alone. */
export function runWideWords(plan: Plan | undefined, language: Language = "en"): string | undefined {
  return plan?.kind === "file" ? PHRASES[language].wide[plan.operation] : undefined;
}

/** Whether a plan changes files; the plan itself holds only digests of what is written. */
export function writesFiles(plan: Plan): boolean {
  const files = plan.kind === "files" ? plan.files : plan.kind === "file" ? [plan] : [];
  return files.some(({ operation }) => operation === "write");
}

function planRows(plan: Plan, phrases: Phrases): readonly ApprovalRow[] {
  const { rows } = phrases;
  switch (plan.kind) {
    case "process":
      return [
        [rows.command, planWords(plan)],
        [rows.program, quoteWord(plan.program)],
        [rows.in, quoteWord(plan.cwd)],
        [
          rows.access,
          plan.confined === undefined ? userWords(plan, phrases) : `${plan.confined}, ${phrases.sandboxed}`,
        ],
        [rows.limit, spanWords(plan.timeoutMs)],
        ...backgroundRows(plan, phrases),
        ...digestRows(plan, phrases),
      ];
    case "shell":
      return [
        [rows.shell, lines(plan.command)],
        [rows.in, quoteWord(plan.cwd)],
        [rows.access, accessWords(plan, phrases)],
        [rows.limit, spanWords(plan.timeoutMs)],
        ...backgroundRows(plan, phrases),
        ...digestRows(plan, phrases),
      ];
    case "file":
      return [
        [rows.file, planWords(plan)],
        [rows.where, plan.inWorkspace ? phrases.inside : phrases.outside],
        [rows.covers, `"${phrases.runWide}": ${phrases.wide[plan.operation]}`],
      ];
    case "files":
      // A yes for this run covers the same change of the same files alone.
      return [
        ...plan.files.flatMap((file) => planRows(file, phrases).filter(([name]) => name !== rows.covers)),
        ...(plan.patch === undefined ? [] : [["patch", lines(plan.patch)] as const]),
      ];
    case "fetch":
      return [
        [rows.page, quoteWord(plan.url)],
        [rows.where, phrases.reaches[plan.reach]],
      ];
    case "facts":
      return [[rows.facts, planWords(plan)]];
    case "order":
      // The names of fields are the model's words: bare, one called "class" would look like the row that Vidro adds.
      return [
        [rows.tool, quoteWord(plan.tool)],
        ...inputRows(plan.input, (name) => `${rows.input} ${quoteWord(name)}`),
      ];
  }
}

function accessWords(plan: ShellPlan, phrases: Phrases): string {
  return plan.sandboxed ? `${plan.access}, ${phrases.sandboxed}` : userWords(plan, phrases);
}

function userWords({ state }: ProcessPlan | ShellPlan, { asUser, states }: Phrases): string {
  return state === undefined ? asUser : `${asUser}, ${states[state]}`;
}

function backgroundRows({ background }: ProcessPlan | ShellPlan, { rows, ends }: Phrases): readonly ApprovalRow[] {
  if (background === undefined) return [];
  const { keep, input } = background;
  const end = [rows.background, keep === true ? ends.kept : ends.run] as const;
  return input === undefined ? [end] : [end, [rows.input, lines(input)]];
}

const DIGEST_CHARS = 16;

function digestRows({ digests = {}, unseen = [] }: ProcessPlan | ShellPlan, phrases: Phrases): readonly ApprovalRow[] {
  const { rows, asNow, besides } = phrases;
  const scripts = Object.entries(digests).map(([path, digest]): ApprovalRow => [
    rows.script,
    `${quoteWord(path)} ${asNow} (${escapeInvisible(digest.slice(0, DIGEST_CHARS))}…)`,
  ]);
  if (unseen.length === 0) return scripts;
  return [...scripts, [rows.unseen, besides(unseen.map((name) => quoteWord(name)).join(", "))]];
}

/** The input that is to be written, never shortened; the plan itself holds only its digest. */
function inputRows(input: JsonObject, nameOf = escapeInvisible): readonly ApprovalRow[] {
  return Object.entries(input).map(([name, value]) => [
    nameOf(name),
    lines(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}

/** The lines of a text; the display indents them, so that no line can look like another row. */
function lines(text: string): string {
  return text
    .split("\n")
    .map((line) => escapeInvisible(line))
    .join("\n");
}
