import type { Language } from "@vidro/core/text";

/* All words of the conversation in the terminal, in each language. */

/** The words of the conversation. */
export interface TalkWords {
  readonly place: (folder: string, brain: string) => string;
  readonly decides: (model: string) => string;
  readonly kept: string;
  readonly tryThis: string;
  readonly examples: readonly string[];
  readonly hint: string;
  readonly help: readonly string[];
  readonly leaves: string;
  readonly leavesAgain: string;
  readonly noCommand: (words: string) => string;
  readonly isNew: string;
  readonly model: (name: string) => string;
  readonly defaultModel: string;
  readonly agent: (name: string) => string;
  readonly agents: string;
  readonly tools: (names: string) => string;
  readonly allTools: string;
  readonly noTool: (name: string, names: string) => string;
  readonly noApprovals: string;
  readonly noCost: string;
  readonly cost: (runs: number, words: string) => string;
  readonly said: string;
  readonly noRun: string;
  readonly notIncluded: (file: string, why: string) => string;
  readonly included: (file: string, size: string) => string;
  readonly tooLarge: (size: string) => string;
  readonly tooMany: (most: number) => string;
  readonly noText: string;
  readonly unclosedQuote: string;
  readonly fileCommands: string;
  readonly ofProject: (file: string) => string;
  /** The task of /undo. */
  readonly undo: string;
}

const EN: TalkWords = {
  place: (folder, brain) => `in ${folder} · brain: ${brain}`,
  decides: (model) => `${model} decides.`,
  kept: "Nothing is changed without your yes, and everything is kept: vidro runs list",
  tryThis: "Try:",
  examples: ["how much disk is free here?", "what is in this folder?", "which processes use the most memory?"],
  hint: "? tells more, exit leaves.",
  help: [
    "Say what to do, in your own words; the next line goes on from there.",
    "  @file           put a file into the task (Tab completes)",
    "  !command        run a command, under the policy, as a part of the conversation",
    "  /model [name]   which model decides; /model default goes back",
    "  /agent [name]   which agent does it",
    "  /tools [a,b]    which tools it may use; /tools all goes back",
    "  /new            begin a new conversation",
    "  /approvals      what waits for a yes, in all runs",
    "  /cost           tokens and cost of this conversation",
    "  /undo           take back the last change to files",
    "  /fork <seq>     go on from an entry of the last run",
    "  /attach <run>   watch another run",
    "  /runs           the latest runs",
    "  /help           this, as ? does",
    "  exit            leave (Ctrl-D does too)",
    "Alt-Enter, or a backslash before Enter, begins another line. A pasted text is one task.",
    "Arrow up brings back earlier tasks.",
    "While something runs: type to tell it something; Ctrl-C ends it; twice leaves it open for vidro attach.",
    "When you are asked: y yes, r yes for this run, a always, c change, n or Esc no, w no and why, ? the keys.",
  ],
  leaves: "exit or Ctrl-D leaves.",
  leavesAgain: "Ctrl-C again leaves.",
  noCommand: (words) => `There is no ${words}. /help tells what there is.`,
  isNew: "A new conversation.",
  model: (name) => `${name} decides from now on.`,
  defaultModel: "The brain's own choice decides from now on.",
  agent: (name) => `${name} does it from now on.`,
  agents: "Agents:",
  tools: (names) => `Tools: ${names}`,
  allTools: "All tools may be used.",
  noTool: (name, names) => `There is no tool ${name}; there are ${names}.`,
  noApprovals: "Nothing waits for an approval.",
  noCost: "No model was called in this conversation yet.",
  cost: (runs, words) => `${runs} ${runs === 1 ? "run" : "runs"}: ${words}`,
  said: "The model is told with its next step.",
  noRun: "There is no run in this conversation yet.",
  notIncluded: (file, why) => `${file} is not put in: ${why}`,
  included: (file, size) => `with ${file} (${size})`,
  tooLarge: (size) => `it is larger than ${size}; let the agent read it`,
  tooMany: (most) => `a task has at most ${most} files`,
  noText: "it is no text",
  unclosedQuote: "A quote in the command is not closed.",
  fileCommands: "Commands from files:",
  ofProject: (file) => `a command of the project, from ${file}`,
  undo: "Undo the last change that you made to files, with the tool undo.",
};

const PT: TalkWords = {
  place: (folder, brain) => `em ${folder} · cérebro: ${brain}`,
  decides: (model) => `${model} decide.`,
  kept: "Nada é mudado sem o seu sim, e tudo fica guardado: vidro runs list",
  tryThis: "Experimente:",
  examples: ["quanto disco está livre aqui?", "o que há nesta pasta?", "quais processos usam mais memória?"],
  hint: "? diz mais, sair sai.",
  help: [
    "Diga o que fazer, com as suas palavras; a próxima linha continua daí.",
    "  @arquivo        põe um arquivo na tarefa (Tab completa)",
    "  !comando        executa um comando, sob a política, como parte da conversa",
    "  /model [nome]   qual modelo decide; /model default volta",
    "  /agent [nome]   qual agente faz",
    "  /tools [a,b]    quais ferramentas ele pode usar; /tools all volta",
    "  /new            começa uma nova conversa",
    "  /approvals      o que espera por um sim, em todas as execuções",
    "  /cost           tokens e custo desta conversa",
    "  /undo           desfaz a última mudança em arquivos",
    "  /fork <seq>     continua a partir de uma entrada da última execução",
    "  /attach <run>   acompanha outra execução",
    "  /runs           as últimas execuções",
    "  /help           isto, como ? faz",
    "  sair            sai (Ctrl-D também)",
    "Alt-Enter, ou uma barra invertida antes de Enter, começa outra linha. Um texto colado é uma tarefa.",
    "A seta para cima traz tarefas anteriores.",
    "Enquanto algo executa: escreva para dizer algo; Ctrl-C encerra; duas vezes deixa aberta para vidro attach.",
    "Quando lhe perguntam: s sim, r sim nesta execução, a sempre, c mudar, n ou Esc não, w não e por quê, ? as teclas.",
  ],
  leaves: "sair ou Ctrl-D sai.",
  leavesAgain: "Ctrl-C outra vez sai.",
  noCommand: (words) => `Não há ${words}. /help diz o que há.`,
  isNew: "Uma nova conversa.",
  model: (name) => `${name} decide a partir de agora.`,
  defaultModel: "A escolha do próprio cérebro decide a partir de agora.",
  agent: (name) => `${name} faz a partir de agora.`,
  agents: "Agentes:",
  tools: (names) => `Ferramentas: ${names}`,
  allTools: "Todas as ferramentas podem ser usadas.",
  noTool: (name, names) => `Não há a ferramenta ${name}; há ${names}.`,
  noApprovals: "Nada espera por uma aprovação.",
  noCost: "Nenhum modelo foi chamado nesta conversa ainda.",
  cost: (runs, words) => `${runs} ${runs === 1 ? "execução" : "execuções"}: ${words}`,
  said: "O modelo fica sabendo com o próximo passo.",
  noRun: "Ainda não há execução nesta conversa.",
  notIncluded: (file, why) => `${file} não foi incluído: ${why}`,
  included: (file, size) => `com ${file} (${size})`,
  tooLarge: (size) => `é maior que ${size}; deixe o agente ler`,
  tooMany: (most) => `uma tarefa tem no máximo ${most} arquivos`,
  noText: "não é texto",
  unclosedQuote: "Uma aspa no comando não está fechada.",
  fileCommands: "Comandos de arquivos:",
  ofProject: (file) => `um comando do projeto, de ${file}`,
  undo: "Desfaça a última mudança que fez em arquivos, com a ferramenta undo.",
};

const ES: TalkWords = {
  place: (folder, brain) => `en ${folder} · cerebro: ${brain}`,
  decides: (model) => `${model} decide.`,
  kept: "Nada se cambia sin su sí, y todo queda guardado: vidro runs list",
  tryThis: "Pruebe:",
  examples: ["¿cuánto disco hay libre aquí?", "¿qué hay en esta carpeta?", "¿qué procesos usan más memoria?"],
  hint: "? dice más, salir sale.",
  help: [
    "Diga qué hacer, con sus palabras; la línea siguiente sigue desde ahí.",
    "  @archivo        pone un archivo en la tarea (Tab completa)",
    "  !comando        ejecuta un comando, bajo la política, como parte de la conversación",
    "  /model [nombre] qué modelo decide; /model default vuelve",
    "  /agent [nombre] qué agente lo hace",
    "  /tools [a,b]    qué herramientas puede usar; /tools all vuelve",
    "  /new            empieza una conversación nueva",
    "  /approvals      lo que espera un sí, en todas las ejecuciones",
    "  /cost           tokens y costo de esta conversación",
    "  /undo           deshace el último cambio en archivos",
    "  /fork <seq>     sigue desde una entrada de la última ejecución",
    "  /attach <run>   mira otra ejecución",
    "  /runs           las últimas ejecuciones",
    "  /help           esto, como hace ?",
    "  salir           sale (Ctrl-D también)",
    "Alt-Enter, o una barra invertida antes de Enter, empieza otra línea. Un texto pegado es una tarea.",
    "La flecha arriba trae tareas anteriores.",
    "Mientras algo se ejecuta: escriba para decirle algo; Ctrl-C lo termina; dos veces lo deja abierto para vidro attach.",
    "Cuando se le pregunta: s sí, r sí en esta ejecución, a siempre, c cambiar, n o Esc no, w no y por qué, ? las teclas.",
  ],
  leaves: "salir o Ctrl-D sale.",
  leavesAgain: "Ctrl-C otra vez sale.",
  noCommand: (words) => `No hay ${words}. /help dice qué hay.`,
  isNew: "Una conversación nueva.",
  model: (name) => `${name} decide a partir de ahora.`,
  defaultModel: "La elección del propio cerebro decide a partir de ahora.",
  agent: (name) => `${name} lo hace a partir de ahora.`,
  agents: "Agentes:",
  tools: (names) => `Herramientas: ${names}`,
  allTools: "Se pueden usar todas las herramientas.",
  noTool: (name, names) => `No hay la herramienta ${name}; hay ${names}.`,
  noApprovals: "Nada espera una aprobación.",
  noCost: "Todavía no se llamó a ningún modelo en esta conversación.",
  cost: (runs, words) => `${runs} ${runs === 1 ? "ejecución" : "ejecuciones"}: ${words}`,
  said: "El modelo lo sabrá con su próximo paso.",
  noRun: "Todavía no hay ejecución en esta conversación.",
  notIncluded: (file, why) => `${file} no se incluye: ${why}`,
  included: (file, size) => `con ${file} (${size})`,
  tooLarge: (size) => `es mayor que ${size}; deje que el agente lo lea`,
  tooMany: (most) => `una tarea tiene como máximo ${most} archivos`,
  noText: "no es texto",
  unclosedQuote: "Una comilla del comando no está cerrada.",
  fileCommands: "Comandos de archivos:",
  ofProject: (file) => `un comando del proyecto, de ${file}`,
  undo: "Deshaga el último cambio que hizo en archivos, con la herramienta undo.",
};

const WORDS: { readonly [L in Language]: TalkWords } = { en: EN, pt: PT, es: ES };

/** The words of the conversation in a language. */
export function talkWords(language: Language): TalkWords {
  return WORDS[language];
}
