import type { HelpRow } from "./row.ts";

/** Help of the commands about hands, processes, the TCP protocol and policies. */
export const HAND_HELP: readonly HelpRow[] = [
  [
    "list hands, this machine's first, then by name",
    "lista mãos, a desta máquina primeiro, depois por nome",
    "lista manos, la de esta máquina primero, luego por nombre",
  ],
  [
    "show everything known about a hand",
    "mostra tudo o que se sabe de uma mão",
    "muestra todo lo que se sabe de una mano",
  ],
  ["id or name of a hand", "id ou nome de uma mão", "id o nombre de una mano"],
  [
    "run one command on hands and pass on its output and exit code",
    "executa um comando em mãos e repassa a saída e o código de saída",
    "ejecuta un comando en manos y pasa su salida y su código de salida",
  ],
  [
    "a program and its arguments, after --",
    "um programa e os seus argumentos, depois de --",
    "un programa y sus argumentos, después de --",
  ],
  [
    "revoke a hand for good: it is disconnected now and never accepted again",
    "revoga uma mão de vez: é desligada agora e nunca mais aceita",
    "revoca una mano para siempre: se desconecta ahora y nunca más se acepta",
  ],
  [
    "reason, shown in lists and in the log",
    "motivo, mostrado em listas e no registro",
    "motivo, mostrado en listas y en el registro",
  ],
  [
    "give a hand no new work until it is released",
    "não dá trabalho novo a uma mão até que seja liberada",
    "no da trabajo nuevo a una mano hasta que se libera",
  ],
  [
    "let a quarantined hand work again",
    "deixa trabalhar de novo uma mão em quarentena",
    "deja trabajar de nuevo a una mano en cuarentena",
  ],
  [
    "confirm that you reviewed hands and tokens after restoring a backup",
    "confirma que você revisou mãos e tokens depois de restaurar um backup",
    "confirma que usted revisó manos y tokens después de restaurar una copia",
  ],
  [
    "give a hand on signed HTTP its next key; the old one ends a day after the new one is first used",
    "dá a uma mão em HTTP assinado a próxima chave; a antiga acaba um dia depois do primeiro uso da nova",
    "da a una mano en HTTP firmado su próxima clave; la vieja acaba un día después del primer uso de la nueva",
  ],
  [
    "print the certificate that hands check this brain's approvals with",
    "imprime o certificado com que as mãos verificam as aprovações deste cérebro",
    "imprime el certificado con el que las manos comprueban las aprobaciones de este cerebro",
  ],
  [
    "allow the brain to call a hand at the address it listens on; without a url, forbid it",
    "permite ao cérebro chamar uma mão no endereço em que ela escuta; sem url, proíbe",
    "permite al cerebro llamar a una mano en la dirección en la que escucha; sin url, lo prohíbe",
  ],
  [
    "address that the hand listens on, like https://web-1.lan:8443",
    "endereço em que a mão escuta, como https://web-1.lan:8443",
    "dirección en la que escucha la mano, como https://web-1.lan:8443",
  ],
  [
    "invite a host: print the line to paste there, which installs a hand and joins",
    "convida uma máquina: imprime a linha a colar lá, que instala uma mão e entra",
    "invita a una máquina: imprime la línea para pegar allí, que instala una mano y se une",
  ],
  [
    "name of the hand (default: the name of its host)",
    "nome da mão (padrão: o nome da sua máquina)",
    "nombre de la mano (por defecto: el nombre de su máquina)",
  ],
  ["tags to select the hand by", "etiquetas para escolher a mão", "etiquetas para elegir la mano"],
  [
    "how long the invitation is valid: 30m, at most 1h",
    "por quanto tempo o convite vale: 30m, no máximo 1h",
    "cuánto tiempo vale la invitación: 30m, como máximo 1h",
  ],
  [
    "the host has Vidro already: print a short line that installs nothing",
    "a máquina já tem Vidro: imprime uma linha curta que não instala nada",
    "la máquina ya tiene Vidro: imprime una línea corta que no instala nada",
  ],
  [
    "join the brain that invited this host, and work for it until Ctrl-C",
    "entra no cérebro que convidou esta máquina e trabalha para ele até Ctrl-C",
    "se une al cerebro que invitó a esta máquina y trabaja para él hasta Ctrl-C",
  ],
  ["address from the invitation", "endereço do convite", "dirección de la invitación"],
  [
    "file that holds the invitation (default: VIDRO_INVITATION, else stdin)",
    "arquivo com o convite (padrão: VIDRO_INVITATION, senão stdin)",
    "archivo con la invitación (por defecto: VIDRO_INVITATION, si no stdin)",
  ],
  [
    "the invitation itself; other users of this host can see it in the list of processes",
    "o próprio convite; outros usuários desta máquina podem vê-lo na lista de processos",
    "la propia invitación; otros usuarios de esta máquina pueden verla en la lista de procesos",
  ],
  [
    "name of this hand, unless the invitation has one (default: the name of this host)",
    "nome desta mão, a menos que o convite tenha um (padrão: o nome desta máquina)",
    "nombre de esta mano, salvo que la invitación tenga uno (por defecto: el nombre de esta máquina)",
  ],
  [
    "connect by WebSocket (ws) or by signed HTTP messages (http)",
    "liga por WebSocket (ws) ou por mensagens HTTP assinadas (http)",
    "conecta por WebSocket (ws) o por mensajes HTTP firmados (http)",
  ],
  [
    "folder for its identity and its ledger",
    "pasta da sua identidade e do seu livro",
    "carpeta de su identidad y de su libro",
  ],
  [
    "work in the background, as a service where there is systemd, and return when connected",
    "trabalha em segundo plano, como serviço onde há systemd, e volta quando ligada",
    "trabaja en segundo plano, como servicio donde hay systemd, y vuelve cuando está conectada",
  ],
  [
    "print one line of JSON when it is connected",
    "imprime uma linha de JSON quando estiver ligada",
    "imprime una línea de JSON cuando está conectada",
  ],
  [
    "sign in at an MCP server of this machine's mcp.json that asks for it",
    "entra em um servidor MCP do mcp.json desta máquina que o pede",
    "inicia sesión en un servidor MCP del mcp.json de esta máquina que lo pide",
  ],
  ["name of the server in mcp.json", "nome do servidor em mcp.json", "nombre del servidor en mcp.json"],
  [
    "serve this folder to clients of the TCP agent protocol",
    "serve esta pasta a clientes do protocolo TCP de agentes",
    "sirve esta carpeta a clientes del protocolo TCP de agentes",
  ],
  [
    "address to listen on; port 0 picks a free one, no port means 4000",
    "endereço em que escuta; a porta 0 escolhe uma livre, sem porta é 4000",
    "dirección en la que escucha; el puerto 0 elige uno libre, sin puerto es 4000",
  ],
  [
    "name of this hand (default: the name of this host)",
    "nome desta mão (padrão: o nome desta máquina)",
    "nombre de esta mano (por defecto: el nombre de esta máquina)",
  ],
  [
    "certificate, a file in PEM; required beyond this machine",
    "certificado, um arquivo em PEM; necessário além desta máquina",
    "certificado, un archivo en PEM; necesario más allá de esta máquina",
  ],
  [
    "accept approvals only from the brain with this certificate (vidro hands authority)",
    "aceita aprovações só do cérebro com este certificado (vidro hands authority)",
    "acepta aprobaciones solo del cerebro con este certificado (vidro hands authority)",
  ],
  [
    "for laboratories: allow other machines without TLS",
    "para laboratórios: permite outras máquinas sem TLS",
    "para laboratorios: permite otras máquinas sin TLS",
  ],
  [
    "print one line of JSON when it is ready",
    "imprime uma linha de JSON quando estiver pronta",
    "imprime una línea de JSON cuando está lista",
  ],
  [
    "have the brain connect to a hand that listens, and keep connected until it is revoked",
    "faz o cérebro ligar-se a uma mão que escuta e ficar ligado até que ela seja revogada",
    "hace que el cerebro se conecte a una mano que escucha y siga conectado hasta que se revoca",
  ],
  [
    "address of the hand, like tls://web-2.lan:4000; tcp:// only on this machine",
    "endereço da mão, como tls://web-2.lan:4000; tcp:// só nesta máquina",
    "dirección de la mano, como tls://web-2.lan:4000; tcp:// solo en esta máquina",
  ],
  [
    "token of the hand, with the scopes hand and approve; - reads it from stdin",
    "token da mão, com os escopos hand e approve; - lê de stdin",
    "token de la mano, con los alcances hand y approve; - lo lee de stdin",
  ],
  [
    "trust the hand by this certificate, a file in PEM",
    "confia na mão por este certificado, um arquivo em PEM",
    "confía en la mano por este certificado, un archivo en PEM",
  ],
  [
    "for laboratories: connect to another machine without TLS",
    "para laboratórios: liga a outra máquina sem TLS",
    "para laboratorios: conecta a otra máquina sin TLS",
  ],
  [
    "address of the brain (default: VIDRO_URL, else the running daemon); its token is VIDRO_TOKEN",
    "endereço do cérebro (padrão: VIDRO_URL, senão o daemon); o seu token é VIDRO_TOKEN",
    "dirección del cerebro (por defecto: VIDRO_URL, si no el daemon); su token es VIDRO_TOKEN",
  ],
  [
    "list, show and stop processes that go on in the background after their runs",
    "lista, mostra e para processos que continuam em segundo plano depois das suas execuções",
    "lista, muestra y para procesos que siguen en segundo plano después de sus ejecuciones",
  ],
  ["list processes that are kept", "lista processos que são mantidos", "lista procesos que se mantienen"],
  [
    "show how a process stands and the end of its output",
    "mostra como está um processo e o fim da sua saída",
    "muestra cómo está un proceso y el final de su salida",
  ],
  [
    "name of the process, or the id of the action that started it",
    "nome do processo, ou o id da ação que o iniciou",
    "nombre del proceso, o el id de la acción que lo inició",
  ],
  [
    "end a process with everything that it has started",
    "encerra um processo com tudo o que ele iniciou",
    "termina un proceso con todo lo que ha iniciado",
  ],
  [
    "host or host:port (default port: 4000)",
    "máquina ou máquina:porta (porta padrão: 4000)",
    "máquina o máquina:puerto (puerto por defecto: 4000)",
  ],
  [
    "name of the request: HELLO, PING, GET_OS_INFO, PS, WATCH, GET_WATCHES, OS_CMD, …",
    "nome do pedido: HELLO, PING, GET_OS_INFO, PS, WATCH, GET_WATCHES, OS_CMD, …",
    "nombre de la petición: HELLO, PING, GET_OS_INFO, PS, WATCH, GET_WATCHES, OS_CMD, …",
  ],
  [
    "data of the request: a JSON object, or key=value pairs",
    "dados do pedido: um objeto JSON, ou pares chave=valor",
    "datos de la petición: un objeto JSON, o pares clave=valor",
  ],
  [
    "token to send (default: VIDRO_TOKEN)",
    "token a enviar (padrão: VIDRO_TOKEN)",
    "token que se envía (por defecto: VIDRO_TOKEN)",
  ],
  ["connect with TLS", "liga com TLS", "conecta con TLS"],
  [
    "connect with TLS and trust this certificate, a file in PEM",
    "liga com TLS e confia neste certificado, um arquivo em PEM",
    "conecta con TLS y confía en este certificado, un archivo en PEM",
  ],
  [
    "list the rules in force, or show one as it is written",
    "lista as regras em vigor, ou mostra uma como está escrita",
    "lista las reglas en vigor, o muestra una como está escrita",
  ],
  ["id of a rule", "id de uma regra", "id de una regla"],
  [
    "add a rule beside the shipped ones: vidro policy add allow -- npm test",
    "acrescenta uma regra às de fábrica: vidro policy add allow -- npm test",
    "añade una regla a las de fábrica: vidro policy add allow -- npm test",
  ],
  [
    "allow, ask or deny, and a program with its arguments after --",
    "allow, ask ou deny, e um programa com os seus argumentos depois de --",
    "allow, ask o deny, y un programa con sus argumentos después de --",
  ],
  [
    "the words are one shell command line, to the letter",
    "as palavras são uma linha de shell, ao pé da letra",
    "las palabras son una línea de shell, al pie de la letra",
  ],
  [
    "name of the rule (default: made of its words)",
    "nome da regra (padrão: feito das suas palavras)",
    "nombre de la regla (por defecto: hecho de sus palabras)",
  ],
  [
    "reason, shown to the person who is asked or refused",
    "motivo, mostrado à pessoa que é perguntada ou recusada",
    "motivo, mostrado a la persona a la que se pregunta o se rechaza",
  ],
  [
    "file with one rule as JSON, instead of words",
    "arquivo com uma regra em JSON, em vez de palavras",
    "archivo con una regla en JSON, en vez de palabras",
  ],
  ["remove a rule that was added", "remove uma regra que foi acrescentada", "quita una regla que fue añadida"],
  [
    "id of a rule, as vidro policy show lists it",
    "id de uma regra, como vidro policy show a lista",
    "id de una regla, como la lista vidro policy show",
  ],
  [
    "check a policy file and run its examples",
    "verifica um arquivo de política e executa os seus exemplos",
    "comprueba un archivo de política y ejecuta sus ejemplos",
  ],
  [
    "policy file (default: the one in force)",
    "arquivo de política (padrão: o que está em vigor)",
    "archivo de política (por defecto: el que está en vigor)",
  ],
  [
    "judge the actions of past runs by a policy and show what it would decide otherwise; runs nothing",
    "julga as ações de execuções passadas por uma política e mostra o que ela decidiria diferente; não executa nada",
    "juzga las acciones de ejecuciones pasadas con una política y muestra qué decidiría distinto; no ejecuta nada",
  ],
  [
    "the actions of past runs, newest first",
    "as ações de execuções passadas, as mais novas primeiro",
    "las acciones de ejecuciones pasadas, las más nuevas primero",
  ],
  ["how many runs to look at", "quantas execuções olhar", "cuántas ejecuciones mirar"],
  [
    "explain whether a command would be allowed, without running it",
    "explica se um comando seria permitido, sem executá-lo",
    "explica si un comando se permitiría, sin ejecutarlo",
  ],
  ["treat it as a shell command line", "trata como uma linha de shell", "lo trata como una línea de shell"],
];
