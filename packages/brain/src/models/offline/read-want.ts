import { LEXICON } from "./classifier.ts";
import { named, processesCounted, programmed } from "./read-programs.ts";
import type { Reader } from "./read-programs.ts";
import { looksLikeFile, plainWords } from "./tokens.ts";
import type { Token } from "./tokens.ts";
import type { Intent, Want } from "./want.ts";
import {
  asksForFolders,
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
  personIn,
  says,
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
  const isOne =
    says(tokens, words("exist exists existe")) && says(tokens, words("user usuario utilizador account conta cuenta"));
  return (isOne ? named(tokens, kind)?.slice(0, 1) : undefined) ?? [{ kind }];
};

const oneName = (tokens: readonly Token[], kind: Intent): { name: string } | Record<string, never> => {
  const [name] = namesIn(tokens, kind);
  return name === undefined ? {} : { name };
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

const aboutFile: Reader = (tokens, kind) => {
  const [path] = filesIn(tokens, kind);
  return path === undefined ? undefined : [{ kind, path }];
};

/** Two paths, in the order in which they are named. */
const fromTo: Reader = (tokens, kind) => {
  const [path, to] = filesIn(tokens, kind);
  return path === undefined || to === undefined ? undefined : [{ kind, path, to }];
};

const UNCOMMITTED = words("uncommitted pending pendentes pendientes commitadas commitados commitear");

const perhapsOfFile: Reader = (tokens, kind) => {
  const [file] = operands(tokens, "file", "path");
  if (file === undefined && says(tokens, UNCOMMITTED)) return [{ kind: "git-status" }];
  const [revision] = operands(tokens, "revision");
  return [{ kind, ...withoutUndefined({ path: file?.written, revision: revision?.written }) }];
};

const logged: Reader = (tokens, kind) => {
  const [file] = operands(tokens, "file", "path");
  const [count] = numbersIn(tokens);
  if (file !== undefined && kind === "log-tail") return [{ kind: "read", path: file.written, last: count ?? 10 }];
  if (kind === "log-tail" && says(tokens, words("kernel dmesg")))
    return [{ kind: "kernel-log", ...withoutUndefined({ count }) }];
  const isTopic = (name: string) => LEXICON.meanings(plainWords(name)).some((meaning) => meaning === "log");
  const names = kind === "log-tail" && file === undefined ? namesIn(tokens, kind) : [];
  const [name] = names.filter((each) => !isTopic(each) && !isBehindHave(tokens, each));
  return [{ kind, ...withoutUndefined({ path: file?.written, count, name }) }];
};

/** Whether a word is the verb of a perfect, and no name: "qué ha salido". */
function isBehindHave(tokens: readonly Token[], name: string): boolean {
  const at = tokens.findIndex(({ written }) => written === name);
  return /^(ha|han|he|hemos|tem|foi|been|had)$/.test(tokens[at - 1]?.plain ?? "");
}

const reached: Reader = (tokens, kind) => {
  const [host] = operands(tokens, "host");
  const written = host?.written ?? namesIn(tokens, kind)[0];
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
  "older antiguos antigos viejos velhos old anteriores more mais mas over beyond nobody untouched unchanged stale sin parados",
);

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
    pattern: glob?.written ?? file?.written ?? kindIn(tokens),
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
  const [path] = pathsIn(tokens, kind).filter((each) => !quoted.includes(each));
  const names = namesIn(tokens, kind).filter((each) => each !== path);
  const [variable] = operands(tokens, "variable", "glob", "host", "number");
  const text = quoted[0] ?? joinNames(names, tokens) ?? variable?.written;
  return text === undefined ? undefined : [{ kind, text, ...withoutUndefined({ path }) }];
};

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
  const [path = "."] = pathsIn(tokens, kind);
  const pattern = operands(tokens, "glob")[0]?.written ?? kindIn(tokens.filter(({ written }) => written !== path));
  const folders = asksForFolders(tokens) ? (true as const) : undefined;
  return [
    { kind, path, ...withoutUndefined({ pattern: pattern?.startsWith(".") ? `*${pattern}` : pattern, folders }) },
  ];
};

const linesCounted: Reader = (tokens, kind) => {
  const [path] = filesIn(tokens, kind);
  return [{ kind, path: path ?? "." }];
};

const history: Reader = (tokens, kind) => {
  // "The changelog of the last 9 commits" names no file.
  const [file] = operands(tokens, "file", "path").filter(({ written }) => !/^changelog$/i.test(written));
  const minutes = minutesIn(tokens);
  const [count] = minutes === undefined ? numbersIn(tokens) : [];
  const isSingle =
    says(tokens, words("commit")) && !says(tokens, words("commits")) && says(tokens, words("last ultimo latest"));
  const person = personIn(tokens, kind);
  return [
    {
      kind,
      ...withoutUndefined({ path: file?.written, count: count ?? (isSingle ? 1 : undefined), minutes, name: person }),
    },
  ];
};

const ofPerson: Reader = (tokens, kind) => [{ kind, ...withoutUndefined({ name: personIn(tokens, kind) }) }];

const shown: Reader = (tokens, kind) => {
  const [revision] = operands(tokens, "revision");
  return [{ kind, ...withoutUndefined({ revision: revision?.written }) }];
};

const LAST = words("last latest ultimo ultima recently");

const blamed: Reader = (tokens, kind) => {
  const [path] = filesIn(tokens, kind);
  if (path === undefined) return undefined;
  const line = linesIn(tokens).line ?? numbersIn(tokens)[0];
  // Who changed a file last is told by its last commit; lines are counted by who wrote them.
  if (line === undefined && says(tokens, LAST)) return [{ kind: "git-log", path, count: 1 }];
  return [{ kind, path, ...withoutUndefined({ line }) }];
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

const committed: Reader = (tokens, kind) => {
  const [quoted] = operands(tokens, "quote");
  return quoted === undefined ? undefined : [{ kind, text: quoted.written }];
};

/** Names that most repositories have, and that phrases name for that reason. */
const USUAL_BRANCHES = words("main master develop trunk");

const branched: Reader = (tokens, kind) => {
  const usual = tokens.filter(({ plain: word }) => USUAL_BRANCHES.has(word));
  const [name] = [...[...operands(tokens, "path"), ...usual].map(({ written }) => written), ...namesIn(tokens, kind)];
  return name === undefined ? undefined : [{ kind, name }];
};

/** What changed within some time is asked of the files, and not of git. */
const changedState: Reader = (tokens, kind) => (minutesIn(tokens) === undefined ? [{ kind }] : found(tokens, "find"));

const portOf: Reader = (tokens, kind) => {
  const ports = numbersIn(tokens).filter((number) => number > 0 && number < 65_536);
  return ports.length === 0 ? [{ kind }] : ports.slice(0, 3).map((number) => ({ kind, number }));
};

const depended: Reader = (tokens, kind) => {
  const isOne = says(tokens, words("use uses usa using"));
  return [{ kind, ...(isOne ? oneName(tokens, kind) : {}) }];
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
  "git-blame": blamed,
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
  "start-service": named,
  "stop-service": named,
  "switch-branch": branched,
  version: programmed,
};

type DefinedFields<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** An object without the fields that are undefined. */
function withoutUndefined<T extends object>(fields: T): DefinedFields<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedFields<T>;
}
