import type { HelpRow } from "./row.ts";

/** Help of the commands about the daemon, models, settings, tokens and audits. */
export const DAEMON_HELP: readonly HelpRow[] = [
  [
    "port to listen on; 0 picks a free one (default: 3120)",
    "porta em que escuta; 0 escolhe uma livre (padrão: 3120)",
    "puerto en el que escucha; 0 elige uno libre (por defecto: 3120)",
  ],
  [
    "address to listen on; beyond this machine only with TLS (default: 127.0.0.1)",
    "endereço em que escuta; além desta máquina, só com TLS (padrão: 127.0.0.1)",
    "dirección en la que escucha; más allá de esta máquina, solo con TLS (por defecto: 127.0.0.1)",
  ],
  [
    "the daemon's certificate, a file in PEM",
    "o certificado do daemon, um arquivo em PEM",
    "el certificado del daemon, un archivo en PEM",
  ],
  [
    "the key of the certificate, a file in PEM",
    "a chave do certificado, um arquivo em PEM",
    "la clave del certificado, un archivo en PEM",
  ],
  [
    "PostgreSQL database that keeps all state, postgres://… (default: a file in the home)",
    "banco PostgreSQL que guarda todo o estado, postgres://… (padrão: um arquivo no diretório do cérebro)",
    "base PostgreSQL que guarda todo el estado, postgres://… (por defecto: un archivo en el directorio del cerebro)",
  ],
  [
    "Redis through which brains on one store reach each other, redis://… (default: none)",
    "Redis pelo qual cérebros com o mesmo banco se alcançam, redis://… (padrão: nenhum)",
    "Redis por el que se alcanzan los cerebros con la misma base, redis://… (por defecto: ninguno)",
  ],
  [
    "whether runs left open by the last daemon go on or wait for vidro attach (default: resume)",
    "se execuções que o último daemon deixou abertas continuam ou esperam por vidro attach (padrão: resume)",
    "si las ejecuciones que el último daemon dejó abiertas siguen o esperan a vidro attach (por defecto: resume)",
  ],
  [
    "the state was restored from a backup: ask before going on with each open run",
    "o estado foi restaurado de um backup: pergunta antes de continuar cada execução aberta",
    "el estado fue restaurado de una copia: pregunta antes de seguir con cada ejecución abierta",
  ],
  ["execute nothing on this machine", "não executa nada nesta máquina", "no ejecuta nada en esta máquina"],
  [
    "port that hands on other machines connect to (default: 3121, opened with the first invitation)",
    "porta a que se ligam as mãos de outras máquinas (padrão: 3121, aberta com o primeiro convite)",
    "puerto al que se conectan las manos de otras máquinas (por defecto: 3121, abierto con la primera invitación)",
  ],
  [
    "names and addresses by which other machines reach this one (default: VIDRO_SOUTHBOUND_HOSTS, else only this machine)",
    "nomes e endereços pelos quais outras máquinas alcançam esta (padrão: VIDRO_SOUTHBOUND_HOSTS, senão só esta máquina)",
    "nombres y direcciones por los que otras máquinas alcanzan esta (por defecto: VIDRO_SOUTHBOUND_HOSTS, si no solo esta máquina)",
  ],
  [
    "run it in the background and return when it is ready; vidro logs shows its log",
    "executa em segundo plano e volta quando estiver pronto; vidro logs mostra o registro",
    "lo ejecuta en segundo plano y vuelve cuando está listo; vidro logs muestra su registro",
  ],
  [
    "write the log to this file, of bounded size, instead of stderr",
    "escreve o registro neste arquivo, de tamanho limitado, em vez de stderr",
    "escribe el registro en este archivo, de tamaño limitado, en vez de stderr",
  ],
  [
    "print one line of JSON when it is ready, and the log as JSON on stderr",
    "imprime uma linha de JSON quando estiver pronto, e o registro como JSON em stderr",
    "imprime una línea de JSON cuando está listo, y el registro como JSON en stderr",
  ],
  ["do not wait for open requests", "não espera por pedidos abertos", "no espera las peticiones abiertas"],
  ["go on until Ctrl-C", "continua até Ctrl-C", "sigue hasta Ctrl-C"],
  ["how many lines to begin with", "com quantas linhas começa", "con cuántas líneas empieza"],
  [
    "print the lines as they are in the file",
    "imprime as linhas como estão no arquivo",
    "imprime las líneas como están en el archivo",
  ],
  ["only print what would be done", "só imprime o que seria feito", "solo imprime lo que se haría"],
  [
    "folder that its hand works in (default: one beside its state, or the current one)",
    "pasta em que a sua mão trabalha (padrão: uma ao lado do seu estado, ou a atual)",
    "carpeta en la que trabaja su mano (por defecto: una junto a su estado, o la actual)",
  ],
  [
    "the folder to make; it holds secrets, so only you may read it",
    "a pasta a criar; contém segredos, por isso só você pode lê-la",
    "la carpeta que se crea; contiene secretos, por eso solo usted puede leerla",
  ],
  ["the folder of the backup", "a pasta do backup", "la carpeta de la copia"],
  [
    "keep the state that is there now under another name, and replace it",
    "guarda o estado que há agora com outro nome e o substitui",
    "guarda el estado que hay ahora con otro nombre y lo reemplaza",
  ],
  [
    "the database, postgres://…; VIDRO_STORE keeps its password out of the list of processes",
    "o banco, postgres://…; VIDRO_STORE mantém a senha fora da lista de processos",
    "la base, postgres://…; VIDRO_STORE mantiene su contraseña fuera de la lista de procesos",
  ],
  [
    "the model: a GGUF file, or a folder with one",
    "o modelo: um arquivo GGUF, ou uma pasta com um",
    "el modelo: un archivo GGUF, o una carpeta con uno",
  ],
  [
    "socket to listen on (default: FAZAI_GEMMA_SOCK, else /run/fazai/gemma.sock)",
    "socket em que escuta (padrão: FAZAI_GEMMA_SOCK, senão /run/fazai/gemma.sock)",
    "socket en el que escucha (por defecto: FAZAI_GEMMA_SOCK, si no /run/fazai/gemma.sock)",
  ],
  [
    "threads of one evaluation (default: half of the processor's)",
    "threads de uma avaliação (padrão: metade das do processador)",
    "hilos de una evaluación (por defecto: la mitad de los del procesador)",
  ],
  [
    "tokens of a conversation (default: the model's, up to 8192)",
    "tokens de uma conversa (padrão: os do modelo, até 8192)",
    "tokens de una conversación (por defecto: los del modelo, hasta 8192)",
  ],
  [
    "most memory for the model and its contexts (default: what is free)",
    "máximo de memória para o modelo e os seus contextos (padrão: o que está livre)",
    "máximo de memoria para el modelo y sus contextos (por defecto: lo que está libre)",
  ],
  ["the shell that reads it", "o shell que o lê", "el shell que lo lee"],
  [
    "list every setting, its value and where the value comes from",
    "lista cada configuração, o seu valor e de onde ele vem",
    "lista cada ajuste, su valor y de dónde viene",
  ],
  [
    "explain a setting: value, origin, what it does, and where it may be set",
    "explica uma configuração: valor, origem, o que faz e onde pode ser definida",
    "explica un ajuste: valor, origen, qué hace y dónde se puede definir",
  ],
  [
    "a setting, as url or VIDRO_URL (default: all)",
    "uma configuração, como url ou VIDRO_URL (padrão: todas)",
    "un ajuste, como url o VIDRO_URL (por defecto: todos)",
  ],
  [
    "list known models and those of servers: window, longest answer, prices, what is needed",
    "lista modelos conhecidos e os dos servidores: janela, maior resposta, preços, o que é preciso",
    "lista modelos conocidos y los de los servidores: ventana, respuesta más larga, precios, qué se necesita",
  ],
  [
    "show what is known of a model, and where each fact comes from",
    "mostra o que se sabe de um modelo e de onde vem cada fato",
    "muestra lo que se sabe de un modelo y de dónde viene cada dato",
  ],
  [
    "as --model takes it (default: the model that would be chosen)",
    "como --model o aceita (padrão: o modelo que seria escolhido)",
    "como lo toma --model (por defecto: el modelo que se elegiría)",
  ],
  [
    "call a model with a small task and tell what came of it",
    "chama um modelo com uma tarefa pequena e diz no que deu",
    "llama a un modelo con una tarea pequeña y dice qué resultó",
  ],
  [
    "verify the hash chain and receipts of all runs or of one, and the seals of the store",
    "verifica a cadeia de hashes e os recibos de todas as execuções ou de uma, e os selos do banco",
    "verifica la cadena de hashes y los recibos de todas las ejecuciones o de una, y los sellos de la base",
  ],
  [
    "file with public keys of hands, as vidro audit keys and vidro-hand key print them",
    "arquivo com chaves públicas de mãos, como vidro audit keys e vidro-hand key as imprimem",
    "archivo con claves públicas de manos, como las imprimen vidro audit keys y vidro-hand key",
  ],
  [
    "print the public keys that hands sign receipts with",
    "imprime as chaves públicas com que as mãos assinam recibos",
    "imprime las claves públicas con las que las manos firman recibos",
  ],
  [
    "print the outcomes that hands have signed, of all runs or of one",
    "imprime os resultados que as mãos assinaram, de todas as execuções ou de uma",
    "imprime los resultados que las manos han firmado, de todas las ejecuciones o de una",
  ],
  [
    "verify exported outcomes with nothing but the public keys of the hands",
    "verifica resultados exportados só com as chaves públicas das mãos",
    "verifica resultados exportados solo con las claves públicas de las manos",
  ],
  ["output of vidro audit export", "saída de vidro audit export", "salida de vidro audit export"],
  [
    "create a token; its secret is printed only now",
    "cria um token; o segredo só é impresso agora",
    "crea un token; su secreto solo se imprime ahora",
  ],
  [
    "role that gives the token its scopes",
    "papel que dá ao token os seus escopos",
    "papel que da al token sus alcances",
  ],
  [
    "scopes of the token, instead of a role's",
    "escopos do token, em vez dos de um papel",
    "alcances del token, en vez de los de un papel",
  ],
  [
    "owner of the token (default: the person at this machine)",
    "dono do token (padrão: a pessoa nesta máquina)",
    "dueño del token (por defecto: la persona en esta máquina)",
  ],
  [
    "when it expires: 30d, 12h, 45m, or a time like 2030-01-31T12:00:00Z (default: never)",
    "quando expira: 30d, 12h, 45m, ou um momento como 2030-01-31T12:00:00Z (padrão: nunca)",
    "cuándo caduca: 30d, 12h, 45m, o un momento como 2030-01-31T12:00:00Z (por defecto: nunca)",
  ],
  ["list tokens, oldest first", "lista tokens, os mais antigos primeiro", "lista tokens, los más antiguos primero"],
  [
    "write hashes of tokens to a file for a hand on another host",
    "escreve hashes de tokens em um arquivo para uma mão em outra máquina",
    "escribe hashes de tokens en un archivo para una mano en otra máquina",
  ],
  ["ids of the tokens", "ids dos tokens", "ids de los tokens"],
  [
    "new file to write; only its owner can read it",
    "arquivo novo a escrever; só o dono pode lê-lo",
    "archivo nuevo que se escribe; solo su dueño puede leerlo",
  ],
  [
    "revoke a token and end its open connections",
    "revoga um token e encerra as suas conexões abertas",
    "revoca un token y termina sus conexiones abiertas",
  ],
  ["id of a token", "id de um token", "id de un token"],
];
