import { Help } from "commander";
import type { Argument, Command, HelpConfiguration, Option } from "commander";
import type { Language } from "@vidro/core/text";
import { DAEMON_HELP } from "./help-words/daemon.ts";
import { HAND_HELP } from "./help-words/hands.ts";
import type { HelpRow } from "./help-words/row.ts";
import { RUN_HELP } from "./help-words/runs.ts";

/*
 * The words of --help in Portuguese and Spanish, by the English ones: those of vidro and vidro run here, those of the
 * other commands beside this file. A sentence without its row stays English, and a test names its command.
 */

const TITLES: readonly HelpRow[] = [
  ["Usage:", "Uso:", "Uso:"],
  ["Arguments:", "Argumentos:", "Argumentos:"],
  ["Options:", "Opções:", "Opciones:"],
  ["Commands:", "Comandos:", "Comandos:"],
  ["display help for command", "mostra a ajuda do comando", "muestra la ayuda del comando"],
  ["show help for a command", "mostra a ajuda de um comando", "muestra la ayuda de un comando"],
  ["print the version", "imprime a versão", "imprime la versión"],
];

const COMMANDS: readonly HelpRow[] = [
  [
    "Runs tasks on your machines: a brain decides, hands execute, every step is recorded.\nWithout a command, vidro opens a conversation.",
    "Executa tarefas nas suas máquinas: um cérebro decide, mãos executam, cada passo fica registrado.\nSem um comando, vidro abre uma conversa.",
    "Ejecuta tareas en sus máquinas: un cerebro decide, manos ejecutan, cada paso queda registrado.\nSin un comando, vidro abre una conversación.",
  ],
  [
    "start the daemon: a brain that serves HTTP, with a hand for this folder",
    "inicia o daemon: um cérebro que serve HTTP, com uma mão para esta pasta",
    "inicia el daemon: un cerebro que sirve HTTP, con una mano para esta carpeta",
  ],
  [
    "end the daemon in order: it answers what it was asked; open runs go on at its next start",
    "encerra o daemon em ordem: ele responde o que lhe foi pedido; execuções abertas continuam no próximo início",
    "termina el daemon en orden: responde lo que se le pidió; las ejecuciones abiertas siguen en el próximo inicio",
  ],
  [
    "end the daemon and start it again in the background, in its folder and with its flags",
    "encerra o daemon e o inicia de novo em segundo plano, na sua pasta e com as suas opções",
    "termina el daemon y lo inicia de nuevo en segundo plano, en su carpeta y con sus opciones",
  ],
  [
    "show the log of the daemon that runs in the background",
    "mostra o log do daemon que roda em segundo plano",
    "muestra el registro del daemon que corre en segundo plano",
  ],
  [
    "make the daemon a service of systemd: root one with its own user, others one of their own",
    "faz do daemon um serviço do systemd: root um com usuário próprio, outros um seu",
    "hace del daemon un servicio de systemd: root uno con usuario propio, otros uno suyo",
  ],
  [
    "copy all state of this home into a new folder; the daemon may run meanwhile",
    "copia todo o estado deste diretório para uma nova pasta; o daemon pode estar rodando",
    "copia todo el estado de este directorio a una carpeta nueva; el daemon puede estar corriendo",
  ],
  [
    "put the state of a backup in the place of this home; the next start asks about each open run",
    "põe o estado de um backup no lugar deste; o próximo início pergunta por cada execução aberta",
    "pone el estado de una copia en lugar de este; el próximo inicio pregunta por cada ejecución abierta",
  ],
  [
    "copy the journals and records of this home to PostgreSQL, and compare them; the file stays as it is",
    "copia os diários e registros deste diretório para o PostgreSQL e os compara; o arquivo fica como está",
    "copia los diarios y registros de este directorio a PostgreSQL y los compara; el archivo queda como está",
  ],
  ["show the status of the running daemon", "mostra o estado do daemon", "muestra el estado del daemon"],
  [
    "print a link to the daemon's web console that signs a browser in, once and within a minute",
    "imprime um link para o console web do daemon, que vale uma vez e por um minuto",
    "imprime un enlace a la consola web del daemon, que vale una vez y por un minuto",
  ],
  [
    "run a task and show it until it ends",
    "executa uma tarefa e a mostra até o fim",
    "ejecuta una tarea y la muestra hasta el final",
  ],
  [
    "open a conversation, as vidro alone does",
    "abre uma conversa, como faz vidro sozinho",
    "abre una conversación, como hace vidro solo",
  ],
  [
    "work on this folder: a brain decides, this process executes (also: codegen)",
    "trabalha nesta pasta: um cérebro decide, este processo executa (também: codegen)",
    "trabaja en esta carpeta: un cerebro decide, este proceso ejecuta (también: codegen)",
  ],
  [
    "watch a run from its beginning; a run without a driver is driven on",
    "acompanha uma execução desde o início; uma execução parada é levada adiante",
    "mira una ejecución desde el principio; una ejecución parada sigue adelante",
  ],
  [
    "say something to a run at work; its model is told with the next step",
    "diz algo a uma execução em andamento; o modelo fica sabendo no próximo passo",
    "dice algo a una ejecución en curso; su modelo lo sabe con el próximo paso",
  ],
  [
    "list, show, sum up, export, delete, abort, fork and replay runs",
    "lista, mostra, soma, exporta, apaga, encerra, bifurca e repete execuções",
    "lista, muestra, suma, exporta, borra, termina, bifurca y repite ejecuciones",
  ],
  [
    "list, show and decide what waits for a person's yes",
    "lista, mostra e decide o que espera pelo sim de uma pessoa",
    "lista, muestra y decide lo que espera el sí de una persona",
  ],
  [
    "list and change agents: personas with a prompt, a model and tools",
    "lista e muda agentes: personas com um prompt, um modelo e ferramentas",
    "lista y cambia agentes: personas con un prompt, un modelo y herramientas",
  ],
  [
    "add, list and remove tasks that the daemon runs at certain times",
    "acrescenta, lista e remove tarefas que o daemon executa em certos horários",
    "añade, lista y quita tareas que el daemon ejecuta a ciertas horas",
  ],
  [
    "add, list and remove addresses that the daemon tells of events of runs",
    "acrescenta, lista e remove endereços que o daemon avisa de eventos das execuções",
    "añade, lista y quita direcciones a las que el daemon avisa de eventos de las ejecuciones",
  ],
  [
    "create, list and revoke tokens for the brain of this home",
    "cria, lista e revoga tokens do cérebro deste diretório",
    "crea, lista y revoca tokens del cerebro de este directorio",
  ],
  [
    "list, invite and change hands: the hosts that execute actions",
    "lista, convida e muda mãos: as máquinas que executam ações",
    "lista, invita y cambia manos: las máquinas que ejecutan acciones",
  ],
  [
    "serve tasks, commands, hands and knowledge to a program that speaks MCP on stdin and stdout",
    "serve tarefas, comandos, mãos e conhecimento a um programa que fala MCP em stdin e stdout",
    "sirve tareas, comandos, manos y conocimiento a un programa que habla MCP en stdin y stdout",
  ],
  [
    "serve an editor that speaks the Agent Client Protocol on stdin and stdout",
    "serve um editor que fala o Agent Client Protocol em stdin e stdout",
    "sirve a un editor que habla el Agent Client Protocol en stdin y stdout",
  ],
  [
    "send one request to a server of the TCP agent protocol",
    "envia um pedido a um servidor do protocolo TCP de agentes",
    "envía una petición a un servidor del protocolo TCP de agentes",
  ],
  [
    "serve a local model on a Unix socket, for the brain and other programs",
    "serve um modelo local em um socket Unix, para o cérebro e outros programas",
    "sirve un modelo local en un socket Unix, para el cerebro y otros programas",
  ],
  [
    "show, change, check and explain what hands may do without asking",
    "mostra, muda, verifica e explica o que as mãos podem fazer sem perguntar",
    "muestra, cambia, comprueba y explica lo que las manos pueden hacer sin preguntar",
  ],
  ["list, show and test models", "lista, mostra e testa modelos", "lista, muestra y prueba modelos"],
  [
    "show settings and where their values come from",
    "mostra as configurações e de onde vêm os seus valores",
    "muestra los ajustes y de dónde vienen sus valores",
  ],
  [
    "verify that journal and outcomes were not altered",
    "verifica que o diário e os resultados não foram alterados",
    "verifica que el diario y los resultados no fueron alterados",
  ],
  [
    "check everything that a run needs, without changing anything",
    "verifica tudo de que uma execução precisa, sem mudar nada",
    "comprueba todo lo que una ejecución necesita, sin cambiar nada",
  ],
  [
    "print the completion of a shell: source <(vidro completion bash)",
    "imprime o complemento de um shell: source <(vidro completion bash)",
    "imprime el completado de un shell: source <(vidro completion bash)",
  ],
  [
    "print the manual page: vidro man | man -l -",
    "imprime a página do manual: vidro man | man -l -",
    "imprime la página del manual: vidro man | man -l -",
  ],
  [
    "search, list, add, verify and remove what runs and people have found out",
    "busca, lista, adiciona, verifica e remove o que execuções e pessoas descobriram",
    "busca, lista, añade, verifica y elimina lo que ejecuciones y personas han averiguado",
  ],
  [
    "search the knowledge; accents, capitals and plurals do not matter",
    "busca no conhecimento; acentos, maiúsculas e plurais não importam",
    "busca en el conocimiento; acentos, mayúsculas y plurales no importan",
  ],
  ["list entries, newest first", "lista entradas, as mais novas primeiro", "lista entradas, las más nuevas primero"],
  ["show an entry with its source", "mostra uma entrada com a sua fonte", "muestra una entrada con su fuente"],
  [
    "keep a finding, which later runs find by research",
    "guarda uma descoberta, que execuções futuras encontram por research",
    "guarda un hallazgo, que ejecuciones futuras encuentran por research",
  ],
  [
    "say that you have checked an entry",
    "diz que você conferiu uma entrada",
    "dice que usted ha comprobado una entrada",
  ],
  [
    "add, list and remove tasks that other programs start by a call",
    "adiciona, lista e remove tarefas que outros programas iniciam por uma chamada",
    "añade, lista y elimina tareas que otros programas inician con una llamada",
  ],
  [
    "let another program start a task; prints the secret of its calls, once",
    "deixa outro programa iniciar uma tarefa; imprime o segredo das chamadas, uma vez",
    "deja que otro programa inicie una tarea; imprime el secreto de las llamadas, una vez",
  ],
  [
    "list hooks without their secrets, and their last runs",
    "lista hooks sem os seus segredos, e as últimas execuções",
    "lista hooks sin sus secretos, y sus últimas ejecuciones",
  ],
  [
    "remove a hook: its secret is worth nothing from then on, its runs stay",
    "remove um hook: o segredo não vale mais nada, as execuções ficam",
    "elimina un hook: su secreto ya no vale nada, las ejecuciones quedan",
  ],
  ["remove an entry", "remove uma entrada", "elimina una entrada"],
  [
    "look through the folders of documents now, and index what has changed",
    "percorre agora as pastas de documentos e indexa o que mudou",
    "recorre ahora las carpetas de documentos e indexa lo que ha cambiado",
  ],
  [
    "show what is indexed of each folder of documents",
    "mostra o que está indexado de cada pasta de documentos",
    "muestra lo que está indexado de cada carpeta de documentos",
  ],
];

const RUN_WORDS: readonly HelpRow[] = [
  ["what to do; - reads it from stdin", "o que fazer; - lê de stdin", "qué hacer; - lo lee de stdin"],
  ["print JSON, one line for each item", "imprime JSON, uma linha por item", "imprime JSON, una línea por elemento"],
  [
    "answer yes to every question; what the policy denies stays denied",
    "responde sim a toda pergunta; o que a política nega continua negado",
    "responde sí a toda pregunta; lo que la política niega sigue negado",
  ],
  ["print only the answer", "imprime só a resposta", "imprime solo la respuesta"],
  [
    "show the whole output of commands and every verdict of the policy",
    "mostra a saída inteira dos comandos e cada veredito da política",
    "muestra la salida entera de los comandos y cada veredicto de la política",
  ],
  [
    "folder to work in (default: the current one)",
    "pasta de trabalho (padrão: a atual)",
    "carpeta de trabajo (por defecto: la actual)",
  ],
  [
    "agent that does it, by name or uuid (default: bunny)",
    "agente que faz, por nome ou uuid (padrão: bunny)",
    "agente que lo hace, por nombre o uuid (por defecto: bunny)",
  ],
  [
    "hands to use: an id, a name, tag:NAME, tool:NAME, or several with commas",
    "mãos a usar: um id, um nome, tag:NOME, tool:NOME, ou várias com vírgulas",
    "manos a usar: un id, un nombre, tag:NOMBRE, tool:NOMBRE, o varias con comas",
  ],
  [
    "conversation to go on with: the thread of an earlier run",
    "conversa a continuar: a thread de uma execução anterior",
    "conversación a seguir: el hilo de una ejecución anterior",
  ],
  [
    "idempotency key: asking again with the same key gives the same run",
    "chave de idempotência: pedir de novo com a mesma chave dá a mesma execução",
    "clave de idempotencia: pedir de nuevo con la misma clave da la misma ejecución",
  ],
  ["limit of model calls", "limite de chamadas do modelo", "límite de llamadas al modelo"],
  ["limit of actions", "limite de ações", "límite de acciones"],
  [
    "limit of tokens, input and output together",
    "limite de tokens, entrada e saída juntas",
    "límite de tokens, entrada y salida juntas",
  ],
  [
    "limit of what the model costs, in US dollars",
    "limite do custo do modelo, em dólares",
    "límite del costo del modelo, en dólares",
  ],
  [
    "limit of what all runs of the conversation cost",
    "limite do custo de todas as execuções da conversa",
    "límite del costo de todas las ejecuciones de la conversación",
  ],
  [
    "limit of working time in minutes",
    "limite do tempo de trabalho em minutos",
    "límite del tiempo de trabajo en minutos",
  ],
  [
    "model that decides, or several with commas (default: the agent's, else VIDRO_MODEL)",
    "modelo que decide, ou vários com vírgulas (padrão: o do agente, senão VIDRO_MODEL)",
    "modelo que decide, o varios con comas (por defecto: el del agente, si no VIDRO_MODEL)",
  ],
  [
    "how long the model thinks (default: the vendor's)",
    "quanto o modelo pensa (padrão: o do fornecedor)",
    "cuánto piensa el modelo (por defecto: lo del proveedor)",
  ],
  [
    "address of the brain (default: VIDRO_URL, else the running daemon, else a brain inside this command)",
    "endereço do cérebro (padrão: VIDRO_URL, senão o daemon, senão um cérebro dentro deste comando)",
    "dirección del cerebro (por defecto: VIDRO_URL, si no el daemon, si no un cerebro dentro de este comando)",
  ],
  [
    "use a brain inside this command even beside a daemon, so that files are the editor's",
    "usa um cérebro dentro deste comando mesmo ao lado de um daemon, para que os arquivos sejam os do editor",
    "usa un cerebro dentro de este comando incluso junto a un daemon, para que los archivos sean los del editor",
  ],
  [
    "token to send to the brain (default: VIDRO_TOKEN, else the running daemon's own)",
    "token a enviar ao cérebro (padrão: VIDRO_TOKEN, senão o do próprio daemon)",
    "token que se envía al cerebro (por defecto: VIDRO_TOKEN, si no el del propio daemon)",
  ],
];

const ALL: readonly HelpRow[] = [...TITLES, ...COMMANDS, ...RUN_WORDS, ...DAEMON_HELP, ...RUN_HELP, ...HAND_HELP];
const CHOICES = { pt: "valores", es: "valores" } as const;
const COLUMN = { pt: 1, es: 2 } as const;

/** How help is written in a language. */
export function helpIn(language: Language): HelpConfiguration {
  if (language === "en") return {};
  const words = new Map(ALL.map((row) => [row[0], row[COLUMN[language]]]));
  const translated = (text: string): string => words.get(text) ?? text;
  const base = new Help();
  return {
    styleTitle: (title) => translated(title),
    commandDescription: (command: Command) => translated(base.commandDescription(command)),
    subcommandDescription: (command: Command) => translated(base.subcommandDescription(command)),
    optionDescription: (option: Option) => {
      const [before = "", behind = ""] = base.optionDescription(option).split(option.description);
      return `${before}${translated(option.description)}${behind.replace("(choices:", `(${CHOICES[language]}:`)}`;
    },
    argumentDescription: (argument: Argument) => translated(base.argumentDescription(argument)),
  };
}
