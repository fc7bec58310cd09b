import { LEXICON } from "./classifier.ts";
import {
  blamed,
  branched,
  branchesListed,
  committed,
  history,
  lastAuthor,
  ofPerson,
  perhapsOfFile,
  shown,
} from "./read-git.ts";
import { depended, logged, packaged, started, tested } from "./read-project.ts";
import { isProgramWord, named, processesCounted, programmed } from "./read-programs.ts";
import type { Reader } from "./read-programs.ts";
import { looksLikeFile } from "./tokens.ts";
import type { Token } from "./tokens.ts";
import type { Intent, Want } from "./want.ts";
import {
  asksForFolders,
  commonName,
  filesIn,
  isFolderNamed,
  kindIn,
  linesIn,
  mebibytesIn,
  minutesIn,
  namesIn,
  numbersIn,
  operands,
  pathsIn,
  says,
  unknownNames,
  withoutUndefined,
} from "./slots.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** The wants of an intent with what its sentence says about it; undefined when the sentence lacks what it needs. */
export function readWants(tokens: readonly Token[], kind: Intent): readonly Want[] | undefined {
  return (READERS[kind] ?? plain)(tokens, kind);
}

const plain: Reader = (_tokens, kind) => [{ kind }];

/** How many rows are asked for; a number that belongs to a span of time is none. */
const counted: Reader = (tokens, kind) => {
  const [count] = minutesIn(tokens) === undefined ? numbersIn(tokens) : [];
  return [{ kind, ...withoutUndefined({ count: count === 0 ? undefined : count }) }];
};

/** The account that a sentence asks for by its name, else all. */
const accountOf: Reader = (tokens, kind) => {
  const isOne = says(tokens, words("user usuario utilizador account conta cuenta login"));
  const [name] = isOne ? unknownNames(tokens, kind) : [];
  return [{ kind, ...withoutUndefined({ name }) }];
};

/** One want for each path; the folder itself when none is named. */
const placed: Reader = (tokens, kind) => {
  const paths = pathsIn(tokens, kind);
  const [count] = numbersIn(tokens);
  const rows = withoutUndefined({ count });
  return paths.length === 0 ? [{ kind, path: ".", ...rows }] : paths.map((path) => ({ kind, path, ...rows }));
};

/** The size of a path; where none is named and a disk is, the disk is meant. */
const sized: Reader = (tokens, kind) => {
  const isDisk = tokens.some((token) => LEXICON.meanings(token.plain).includes("disk"));
  return isDisk && pathsIn(tokens, kind).length === 0 ? [{ kind: "disk" }] : placed(tokens, kind);
};

const onDisk: Reader = (tokens, kind) => {
  const paths = operands(tokens, "path").map(({ written }) => written);
  return paths.length === 0 ? [{ kind }] : paths.map((path) => ({ kind, path }));
};

const ofFile: Reader = (tokens, kind) => {
  const [path] = filesIn(tokens, kind);
  const [from, to, more] = numbersIn(tokens);
  if (path === undefined || more !== undefined) return undefined;
  // Of "lines 1 to 5" the first five are read; lines from the middle cannot be.
  if (from !== undefined && to !== undefined) return from === 1 ? [{ kind, path, first: to }] : undefined;
  return [{ kind, path, ...linesIn(tokens) }];
};

/** Meanings of what is asked about a file that is there. */
const FACTS = /^(size|modified|change|permission|when|line|age|last|used|big|read)$/;

/** A file whose facts are asked for; "is there a Dockerfile" asks where one is. */
const aboutFile: Reader = (tokens, kind) => {
  const [path] = filesIn(tokens, kind);
  if (path === undefined) return undefined;
  const isFact = tokens.some(({ plain: word }) => LEXICON.meanings(word).some((meaning) => FACTS.test(meaning)));
  const isThere = says(tokens, words("there exist exists existe existem existen hay ha tem temos tenemos have"));
  return isThere && !isFact && !path.includes("/") ? [{ kind: "find", pattern: path }] : [{ kind, path }];
};

/** Two paths, in the order in which they are named. */
const fromTo: Reader = (tokens, kind) => {
  const [path, to] = filesIn(tokens, kind);
  return path === undefined || to === undefined ? undefined : [{ kind, path, to }];
};

const reached: Reader = (tokens, kind) => {
  const [host] = operands(tokens, "host");
  const written = host?.written ?? unknownNames(tokens, kind)[0];
  return [{ kind, ...withoutUndefined({ name: written?.replace(/^https?:\/\//, "").replace(/[/:].*$/, "") }) }];
};

const killed: Reader = (tokens, kind) => {
  const [number] = numbersIn(tokens);
  const isPort = says(tokens, words("port porta puerto listens listening escuta escutando escucha escuchando"));
  if (number !== undefined) return [isPort ? { kind, number, text: "port" } : { kind, number }];
  const [name] = namesIn(tokens, kind);
  return name === undefined ? undefined : [{ kind, name }];
};

const OLDER = words(
  "older antiguos antigos viejos velhos old anteriores more mais mas over beyond nobody untouched unchanged stale sin parados ninguem nadie",
);

/** Whether the only kind that is named is a program, and nothing says that its files are meant: "which python do we have". */
function asksForProgram(tokens: readonly Token[]): boolean {
  const isFiles = says(tokens, words("code codigo scripts script module modules modulos sources fontes fuentes"));
  const isFile = tokens.some(({ plain: word, kind }) => kind !== undefined || LEXICON.meanings(word).includes("file"));
  return !isFiles && !isFile && tokens.some(({ plain: word }) => isProgramWord(word));
}

const found: Reader = (tokens, kind) => {
  const [glob] = operands(tokens, "glob").filter(({ written }) => written.includes("*"));
  const [file] = operands(tokens, "file", "quote");
  const minutes = minutesIn(tokens);
  const mebibytes = mebibytesIn(tokens);
  const isEmpty = says(tokens, words("empty vazio vazios vazia vazias vacio vacios vacia vacias"));
  const isRecent = says(
    tokens,
    words("recently recent newest recentemente recientemente nuevos novos recientes recentes"),
  );
  const shape = withoutUndefined({
    pattern: glob?.written ?? commonName(file?.written) ?? (asksForProgram(tokens) ? undefined : kindIn(tokens)),
    minutes: minutes ?? (isRecent ? 1440 : undefined),
    mebibytes,
    folders: asksForFolders(tokens) ? true : undefined,
    empty: isEmpty ? true : undefined,
    older:
      minutes !== undefined && says(tokens, OLDER) && !says(tokens, words("last ultimos ultimas")) ? true : undefined,
  });
  const [path] = pathsIn(tokens, kind).filter((each) => each !== file?.written);
  const at = withoutUndefined({ path });
  if (shape.pattern !== undefined || shape.minutes !== undefined || shape.mebibytes !== undefined || isEmpty)
    return [{ kind, ...shape, ...at }];
  const name = namesIn(tokens, kind).find((each) => each !== path);
  return name === undefined ? undefined : [{ kind, pattern: `*${name}*`, ...shape, ...at }];
};

const TEXT_WORDS = words(
  "search grep text texto word palavra palabra contain contains contem contienen busca busque procure in em en",
);

const searched: Reader = (tokens, kind) => {
  const quoted = operands(tokens, "quote").map(({ written }) => written);
  const isFile = quoted[0] !== undefined && looksLikeFile(quoted[0]) && !says(tokens, TEXT_WORDS);
  if (
    isFile ||
    (quoted[0] !== undefined &&
      /^[^.]*\.\w{1,5}$/.test(quoted[0]) &&
      says(tokens, words("file arquivo archivo ficheiro fichero")))
  )
    return found(tokens, "find");
  const [path = folderOfKind(tokens)] = pathsIn(tokens, kind).filter((each) => !quoted.includes(each));
  const names = namesIn(tokens, kind).filter((each) => each !== path);
  const [variable] = operands(tokens, "variable", "glob", "host", "number");
  const text = quoted[0] ?? joinNames(names, tokens) ?? variable?.written;
  return text === undefined ? undefined : [{ kind, text, ...withoutUndefined({ path }) }];
};

/** A folder with the name of a kind of files, behind a word of place: "in logs". */
function folderOfKind(tokens: readonly Token[]): string | undefined {
  const [before, last] = tokens.slice(-2);
  const isPlaced = /^(in|inside|under|em|nos?|nas?|en|dentro)$/.test(before?.plain ?? "");
  return isPlaced && last?.kind === undefined && KIND_NAMES.has(last?.plain ?? "") ? last?.written : undefined;
}

/** Names that stand beside each other are one text: "connection refused". */
function joinNames(names: readonly string[], tokens: readonly Token[]): string | undefined {
  const [first] = names;
  if (first === undefined) return undefined;
  const from = tokens.findIndex(({ written }) => written === first);
  let text = first;
  for (let at = from + 1; names.includes(tokens[at]?.written ?? ""); at += 1) text += ` ${tokens[at]?.written}`;
  return text;
}

/** Kinds of files that are names of folders as well. */
const KIND_NAMES = words("logs log tests test images scripts");

const listed: Reader = (tokens, kind) => {
  const pattern = kindIn(tokens);
  const isPlace = pathsIn(tokens, kind).some((path) => KIND_NAMES.has(path));
  const isOfKind =
    pattern !== undefined && !isPlace && says(tokens, words("file files arquivos archivos ficheiros ficheros"));
  if (isOfKind) return found(tokens, "find");
  return placed(tokens, kind)?.map(({ kind: same, path }) => ({ kind: same, ...withoutUndefined({ path }) }));
};

const filesCounted: Reader = (tokens, kind) => {
  if (says(tokens, words("lines linhas lineas"))) return linesCounted(tokens, "count-lines");
  const [path = "."] = pathsIn(tokens, kind);
  const pattern = operands(tokens, "glob")[0]?.written ?? kindIn(tokens.filter(({ written }) => written !== path));
  const folders = asksForFolders(tokens) ? (true as const) : undefined;
  return [
    { kind, path, ...withoutUndefined({ pattern: pattern?.startsWith(".") ? `*${pattern}` : pattern, folders }) },
  ];
};

const linesCounted: Reader = (tokens, kind) => {
  const pattern = kindIn(tokens);
  const isKind = pattern !== undefined && operands(tokens, "file").length === 0;
  const [path = "."] = isKind ? pathsIn(tokens, kind) : filesIn(tokens, kind);
  return [{ kind, path, ...(isKind ? { pattern } : {}) }];
};

const variable: Reader = (tokens, kind) => {
  const [written] = operands(tokens, "variable");
  const spoken = tokens.find((token) => token.plain === "path" || token.plain === "shell")?.plain.toUpperCase();
  const name = written?.written.replace(/[${}]/g, "") ?? spoken;
  return [{ kind, ...withoutUndefined({ name }) }];
};

const deleted: Reader = (tokens, kind) => {
  const paths = filesIn(tokens, kind);
  const [path] = paths;
  if (path === undefined || paths.length > 1 || /^(\/|~|\.{1,2})?\/?$/.test(path)) return undefined;
  return [{ kind, path, ...(isFolderNamed(tokens, path) ? { folders: true } : {}) }];
};

const FOLDER_WORDS = words("folder directory dir pasta diretorio carpeta directorio");

const made: Reader = (tokens, guessed) => {
  const kind = says(tokens, FOLDER_WORDS) ? "make-folder" : guessed;
  const [path] = [...operands(tokens, "path", "file").map(({ written }) => written), ...namesIn(tokens, kind)];
  return path === undefined ? undefined : [{ kind, path }];
};

/** What changed within some time is asked of the files, and not of git. */
const changedState: Reader = (tokens, kind) => (minutesIn(tokens) === undefined ? [{ kind }] : found(tokens, "find"));

const portOf: Reader = (tokens, kind) => {
  const ports = numbersIn(tokens).filter((number) => number > 0 && number < 65_536);
  return ports.length === 0 ? [{ kind }] : ports.slice(0, 3).map((number) => ({ kind, number }));
};

/** What runs a command names it in quotes or is one; words alone never do. */
const neverSpoken: Reader = () => undefined;

const scheduled: Reader = (tokens, kind) => [{ kind, ...(says(tokens, words("crontab")) ? { name: "crontab" } : {}) }];

const FAILED = words(
  `failed fail failing fallido fallida fallidos fallidas fallado fallo fallaron falha falhas falhou falharam falhando fallando broken
   broke crash crashed crashes crashing died dead down caido caidos caida caidas caiu cairam cayo cayeron murio morreu morto morta
   muerto roto rota quebrado quebrou`,
);

const serviceList: Reader = (tokens, kind) => [{ kind, ...(says(tokens, FAILED) ? { text: "failed" } : {}) }];

const IMAGES = words("images imagens imagenes");

const containerList: Reader = (tokens, kind) => [{ kind, ...(says(tokens, IMAGES) ? { text: "images" } : {}) }];

/** What each intent reads from a sentence; the others read nothing. */
const READERS: { readonly [K in Intent]?: Reader } = {
  "top-cpu": counted,
  "top-memory": counted,
  "kernel-log": counted,
  accounts: accountOf,
  commit: committed,
  containers: containerList,
  copy: fromTo,
  "count-commits": ofPerson,
  "count-files": filesCounted,
  "count-lines": linesCounted,
  cron: scheduled,
  delete: deleted,
  dependencies: depended,
  disk: onDisk,
  env: variable,
  "file-info": aboutFile,
  find: found,
  "folder-size": sized,
  "git-author": lastAuthor,
  "git-blame": blamed,
  "git-branches": branchesListed,
  "git-diff": perhapsOfFile,
  "git-log": history,
  "git-show": shown,
  "git-status": changedState,
  inodes: onDisk,
  install: named,
  installed: programmed,
  kill: killed,
  largest: placed,
  "largest-folders": placed,
  list: listed,
  "log-errors": logged,
  "log-tail": logged,
  "make-branch": branched,
  "make-file": made,
  "make-folder": made,
  packages: packaged,
  ports: portOf,
  "processes-count": processesCounted,
  reach: reached,
  read: ofFile,
  rename: fromTo,
  restart: named,
  run: neverSpoken,
  running: programmed,
  search: searched,
  service: programmed,
  services: serviceList,
  start: started,
  "start-service": named,
  "stop-service": named,
  "switch-branch": branched,
  tests: tested,
  version: programmed,
};
