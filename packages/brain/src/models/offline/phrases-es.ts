import type { Phrases } from "./phrases-en.ts";
import type { GitAspect } from "./want.ts";

const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

const GIT_STEPS: { readonly [A in GitAspect]: string } = {
  status: "Preguntar a git cómo está el repositorio",
  branch: "Preguntar a git cuál es la rama",
  changes: "Preguntar a git qué cambió",
  log: "Preguntar a git por los últimos commits",
};

/** All that the built-in model says in Spanish. */
export const ES: Phrases = {
  decimal: ",",

  steps: {
    disk: "Medir los discos",
    memory: "Medir la memoria",
    cpu: "Contar los procesadores",
    load: "Leer la carga",
    processes: "Listar los procesos",
    uptime: "Leer cuánto tiempo lleva encendida la máquina",
    system: "Leer qué sistema es",
    network: "Listar las direcciones de red",
    ports: "Listar los puertos en escucha",
    largest: (path) => `Buscar los archivos más grandes en ${path}`,
    find: (pattern) => `Buscar archivos que coinciden con ${pattern}`,
    search: (text) => `Buscar ${text}`,
    read: (path) => `Leer ${path}`,
    list: (path) => `Listar ${path}`,
    git: (about) => GIT_STEPS[about],
    differences: "Medir las diferencias",
    run: (command) => `Ejecutar ${command}`,
    project: "Ver qué tipo de proyecto es",
    tests: "Ejecutar sus pruebas",
    date: "Leer el reloj",
    user: "Preguntar quién es el usuario",
    sessions: "Listar quién está conectado",
    folder: "Preguntar por la carpeta de trabajo",
  },

  disk: (free, total, mount, used) => `${free} de ${total} están libres en ${mount} (${used} en uso).`,
  memory: (available, total, used) => `${available} de ${total} de memoria están disponibles (${used} en uso).`,
  swap: (used, total) => `Swap: ${used} de ${total} en uso.`,
  noSwap: "No hay swap.",
  processors: (count, model) =>
    `${many(count, "procesador", "procesadores")}${model === undefined ? "" : `: ${model}`}.`,
  load: (one, five, fifteen) => `Carga: ${one} en 1 minuto, ${five} en 5, ${fifteen} en 15.`,
  processes: (by, total) => `Los procesos que más usan ${by === "cpu" ? "CPU" : "memoria"}, de ${total} en total:`,
  named: (name, count) => `${many(count, "proceso coincide", "procesos coinciden")} con “${name}”:`,
  noneNamed: (name) => `Ningún proceso coincide con “${name}”.`,
  uptime: (time) => `La máquina lleva encendida ${time}.`,
  units: { day: ["día", "días"], hour: ["hora", "horas"], minute: ["minuto", "minutos"] },
  and: "y",
  system: (host, name, kernel, architecture) =>
    `${host} usa ${name === "" ? "" : `${name}, `}kernel ${kernel}, en ${architecture}.`,
  addresses: "Direcciones de red:",
  noAddresses: "Ninguna interfaz tiene dirección.",
  down: "inactiva",
  listening: (count) => `${many(count, "puerto TCP está", "puertos TCP están")} en escucha:`,
  nobodyListens: "Nadie escucha en ningún puerto TCP.",
  port: (port, addresses, owners) => `Puerto ${port} (${addresses}): ${owners}`,
  nobodyOn: (port) => `Nadie escucha en el puerto TCP ${port}.`,
  ownerUnknown: "el sistema no le dice a este usuario quién es",
  largest: (count, path) => `Los ${count} archivos más grandes en ${path}:`,
  noFiles: (path) => `No hay archivos en ${path}.`,
  cut: "La lista era demasiado larga para leerla entera; puede faltar un archivo mayor.",
  found: (count, pattern) => `${many(count, "archivo coincide", "archivos coinciden")} con ${pattern}:`,
  notFound: (pattern) => `Ningún archivo coincide con ${pattern}.`,
  matches: (count, text) => `${many(count, "línea contiene", "líneas contienen")} “${text}”:`,
  noMatches: (text) => `Ninguna línea contiene “${text}”.`,
  more: (count) => `… y ${count} más.`,
  content: (path, lines) => `${path} (${many(lines, "línea leída", "líneas leídas")}):`,
  folderContent: (path, count) => `${path} tiene ${many(count, "entrada", "entradas")}:`,
  emptyFolder: (path) => `${path} está vacía.`,
  branch: (branch, tracking) => `En la rama ${branch}${tracking === "" ? "" : ` (${tracking})`}.`,
  clean: "Nada ha cambiado desde el último commit.",
  changes: (count) => `${many(count, "ruta ha cambiado", "rutas han cambiado")}:`,
  commits: (count) =>
    count === 1 ? "El último commit:" : `Los últimos ${count} commits, del más nuevo al más antiguo:`,
  noCommits: "El repositorio aún no tiene commits.",
  noRepository: "Esta carpeta no está en un repositorio git.",
  ended: (command, code) => `\`${command}\` terminó con código de salida ${code}.`,
  endedBy: (command, signal) => `\`${command}\` fue terminado por ${signal}.`,
  timedOut: (command) => `\`${command}\` tardó demasiado y fue terminado.`,
  silent: "No escribió nada.",
  errors: "En su salida de errores:",
  passed: (command) => `Las pruebas pasan: \`${command}\` terminó con código de salida 0.`,
  failed: (command, how) => `Las pruebas no pasan. ${how} (\`${command}\`)`,
  noTests:
    "No sé cómo se prueba este proyecto: conozco package.json, Cargo.toml, pyproject.toml, go.mod y un Makefile con un objetivo test.",
  date: (weekday, date, time, zone) => `Son las ${time} (${zone}) del ${weekday} ${date} en esta máquina.`,
  weekdays: ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"],
  user: (name, uid, groups) =>
    `La mano trabaja como ${name}${uid === "" ? "" : ` (uid ${uid}${groups === "" ? "" : `, grupos: ${groups}`})`}.`,
  sessions: (names) => `Conectados: ${names}.`,
  noSessions: "Nadie está conectado en una terminal.",
  folder: (path) => `La carpeta de trabajo es ${path}.`,

  refused: (what, why) => `No se hizo: ${what}. ${why}`,
  unread: (what) => `${what} dio algo que no sé leer; aquí está tal como vino:`,
  gaveNothing: (what) => `${what} no dio nada.`,
  forgotten: (what) => `${what} se hizo, pero su salida ya no está a mi vista.`,
  noTool: "Ninguna de las herramientas necesarias está disponible aquí.",
  leftOut: (count) => `Quedaron fuera ${count} más de sus peticiones; pida de nuevo el resto.`,

  self: "Soy el modelo integrado de Vidro: reglas simples, no un modelo de lenguaje. Funciono sin conexión y leo de las herramientas todo lo que digo.",
  unknown:
    "No lo entendí. Soy el modelo integrado de Vidro: reglas simples, no un modelo de lenguaje; por eso solo sé algunas cosas.",
  can: "Respondo preguntas sobre esta máquina y esta carpeta, por ejemplo:",
  examples: [
    "¿cuánto espacio libre hay en el disco?",
    "¿qué procesos usan más memoria?",
    "¿quién usa el puerto 8080?",
    "los archivos más grandes en src/",
    'busca "REVIEW"',
    "¿qué cambió en git?",
    'ejecuta "df -h"',
    "ejecuta las pruebas",
  ],
  connect:
    "Para lo demás, conecte un modelo de lenguaje: ponga una clave en el entorno (OPENAI_API_KEY, ANTHROPIC_API_KEY o GOOGLE_GENERATIVE_AI_API_KEY), o inicie Ollama en esta máquina, o indique un modelo en VIDRO_MODEL; `vidro doctor` dice qué se encontró.",
};
