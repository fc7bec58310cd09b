import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";

/* The invariants of ARCHITECTURE.md, held by reading the source. */

const ROOT = resolve(import.meta.dirname, "..");

interface Source {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
  /** What it imports: packages by name, own files by path. */
  readonly imports: readonly string[];
}

const sources: readonly Source[] = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: ROOT })
  .sort()
  .map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const found = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
    const imports = found.map((name) =>
      name.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(path), name)) : name,
    );
    return { path, text, imports };
  });

const isTest = ({ path }: Source): boolean => /\.(test|fixture|contract)\.ts$/.test(path);
const product = sources.filter((source) => !isTest(source));
const inside = (folder: string): readonly Source[] => product.filter(({ path }) => path.startsWith(`${folder}/`));

/** The names of what a file exports by a declaration. */
const EXPORTED = /^export (?:async )?(?:abstract )?(?:function\*?|class|const|interface|type) (\w+)/gm;

function assertNone(offenders: readonly string[], rule: string): void {
  assert.deepEqual(offenders, [], rule);
}

test("invariant 1: core imports nothing, and knows neither clock nor chance", () => {
  const outside = inside("packages/core/src").flatMap(({ path, imports }) =>
    imports.filter((name) => !name.startsWith("packages/core/src/")).map((name) => `${path} imports ${name}`),
  );
  assertNone(outside, "core imports only its own files");
  const impure = inside("packages/core/src").filter(({ text }) =>
    /\bDate\b|Math\.random|\bprocess\.|\bsetTimeout\b|\bfetch\(/.test(withoutComments(text)),
  );
  assertNone(
    impure.map(({ path }) => path),
    "core is pure",
  );
});

test("packages import only what the table in ARCHITECTURE.md allows", () => {
  const allowed: Record<string, readonly string[]> = {
    core: [],
    aon: ["core"],
    client: ["core"],
    hands: ["core"],
    worker: ["core"],
    console: ["core", "client"],
    brain: ["core", "aon", "hands", "client"],
    cli: ["core", "client", "hands", "worker", "brain"],
  };
  const offenders = product.flatMap(({ path, imports }) => {
    const own = path.split("/")[1] ?? "";
    return imports.flatMap((name) => {
      const other = /^@vidro\/(\w+)/.exec(name)?.[1] ?? /^packages\/(\w+)\//.exec(name)?.[1];
      return other === undefined || other === own || allowed[own]?.includes(other) ? [] : [`${path} imports ${name}`];
    });
  });
  assertNone(offenders, "the arrows point inwards");
});

/** Which folder of the brain may import which; its own files at the top put everything together and may import all. */
const BRAIN_ARROWS: Readonly<Record<string, readonly string[]>> = {
  auth: [],
  bus: [],
  catalog: [],
  config: [],
  daemon: ["knowledge", "stores"],
  hooks: ["webhooks"],
  http: ["auth", "observe"],
  knowledge: ["stores"],
  models: ["config.ts"],
  north: ["auth", "catalog", "hooks", "http", "knowledge", "observe", "run", "schedules", "stream", "webhooks"],
  observe: ["auth", "stores"],
  run: ["auth", "catalog", "observe", "stores"],
  schedules: [],
  south: ["observe", "stores"],
  stores: [],
  stream: ["http", "run", "stores"],
  tools: ["config.ts", "knowledge"],
  webhooks: ["stores"],
};

test("folders of the brain import only what their arrows allow", () => {
  const root = "packages/brain/src/";
  const folderOf = (path: string): string =>
    path.startsWith(root) ? (path.slice(root.length).split("/")[0] ?? "") : "";
  const offenders = inside("packages/brain/src").flatMap(({ path, imports }) => {
    const own = folderOf(path);
    if (own.endsWith(".ts")) return [];
    const others = imports.filter((name) => name.startsWith(root) && folderOf(name) !== own);
    return others
      .filter((name) => !BRAIN_ARROWS[own]?.includes(folderOf(name)))
      .map((name) => `${path} imports ${name}`);
  });
  assertNone(offenders, "north and south do not know each other, auth knows no HTTP, HTTP knows no run");
});

test("no two files of a package import each other, by way of others or for types alone", () => {
  const known = new Map(product.map((source) => [source.path, source]));
  const done = new Set<string>();
  const walk = (path: string, way: readonly string[]): readonly string[] => {
    if (way.includes(path)) return [[...way.slice(way.indexOf(path)), path].join(" > ")];
    if (done.has(path)) return [];
    done.add(path);
    return (known.get(path)?.imports ?? [])
      .filter((name) => known.has(name))
      .flatMap((name) => walk(name, [...way, path]));
  };
  assertNone(
    [...known.keys()].flatMap((path) => walk(path, [])),
    "imports form no cycle",
  );
});

test("the brain knows the hands' own code in one place", () => {
  const offenders = inside("packages/brain/src").filter(
    ({ path, imports }) => imports.includes("@vidro/hands") && !path.endsWith("/south/local.ts"),
  );
  assertNone(
    offenders.map(({ path }) => path),
    "only south/local.ts imports hands",
  );
});

test("the brain is a client only of hands that listen", () => {
  const offenders = inside("packages/brain/src").filter(
    ({ path, imports }) =>
      imports.some((name) => name.startsWith("@vidro/client") && name !== "@vidro/client/tcp") ||
      (imports.includes("@vidro/client/tcp") && !/\/south\/agent-tcp[./]/.test(path)),
  );
  assertNone(
    offenders.map(({ path }) => path),
    "only south/agent-tcp imports the client, and only its TCP part",
  );
});

test("invariant 2: only the engine, by its writer, and runs.ts append, and only a store writes entries", () => {
  const offenders = inside("packages/brain/src").filter(
    // The wrappers of a journal pass on what the two append: one counts it, one keeps its findings, one its approved tools,
    // one streams it, one records messages about it, one makes spans of it.
    ({ path, text }) =>
      /\b(journal|inner)\.(append|create)\(/.test(text) &&
      !/\/run\/(journal-writer|runs)\.ts$|\/(journal-observer|knowledge-journal|kept-tool-journal|task-streams|webhook-journal|run-tracer|forward-journal)\.ts$/.test(
        path,
      ),
  );
  assertNone(
    offenders.map(({ path }) => path),
    "one place appends",
  );
});

test("invariant 9: the brain opens no file of a workspace; only its own state", () => {
  const mayTouchFiles =
    /\/(stores\/|auth\/|daemon\/|catalog\/(?:agent|skill)-files\.ts|src\/(?:brain|config)\.ts|south\/local\.ts|south\/enrolment\/(?:authority|archives)\.ts|http\/(?:tcp-tables|console-files)\.ts|observe\/vitals\.ts|models\/(?:vendor-packages|key-source)\.ts|bus\/redis\/address\.ts)/;
  const offenders = inside("packages/brain/src").filter(
    ({ path, imports }) => imports.some((name) => /^node:(fs|child_process)/.test(name)) && !mayTouchFiles.test(path),
  );
  assertNone(
    offenders.map(({ path }) => path),
    "the brain asks a hand",
  );
});

/** Files that read the environment, and what they read there. */
const ENVIRONMENT_READERS: Readonly<Record<string, string>> = {
  "packages/brain/src/config.ts": "every setting",
  "packages/hands/src/config.ts": "where a hand keeps its state, its invitation, and what its processes get",
  "packages/cli/src/view/terminal-kind.ts": "TERM and the locale, which say what the terminal can show",
};

test("only the files of settings read the environment", () => {
  const readers = product.filter(({ text }) =>
    /\bprocess\.env\b|\bprocess\["env"\]|\benv\b[^;]*\} = process;|from "node:process"/.test(withoutComments(text)),
  );
  assert.deepEqual(
    readers.map(({ path }) => path),
    Object.keys(ENVIRONMENT_READERS).toSorted(),
  );
});

/** A constant that bounds time or size by a number of its own. */
const OWN_BOUND = /^(?:export )?const ([A-Z][A-Z_]*(?:_MS|_LIMIT|_MAX|_AT_MOST)|[KMG]IB) = [\d_. *A-Z]+;/gm;

test("invariant 7: bounds of time and units have their names in core/src/limits", () => {
  const offenders = product
    .filter(({ path }) => !/\/limits(?:\/|\.ts$)/.test(path))
    .flatMap(({ path, text }) => [...text.matchAll(OWN_BOUND)].map(([, name]) => `${path} ${name}`));
  assertNone(offenders, "a bound is found in one place");
});

test("ARCHITECTURE.md has a place for each folder of the packages, in the table of its package", () => {
  const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const titles: Record<string, string> = { core: "core", brain: "the brain", hands: "the hands", cli: "the command" };
  const tableOf = (title: string): string =>
    new RegExp(`^\\| folder of ${title} \\|.*\\n(?:\\|.*\\n)+`, "m").exec(page)?.[0] ?? "";
  const folders = new Set(product.flatMap(({ path }) => /^packages\/(\w+\/src\/[\w-]+)\//.exec(path)?.[1] ?? []));
  const isNamed = (folder: string): boolean => {
    const [owner = "", , name] = folder.split("/");
    const title = titles[owner];
    if (title === undefined) return page.includes(`\`${folder}/\``);
    return new RegExp(`^\\|[^|]*\`${name}/\``, "m").test(tableOf(title));
  };
  assert.ok(folders.size > 30);
  assertNone(
    [...folders].filter((folder) => !isNamed(folder)),
    "a stranger finds each folder on the map",
  );
});

test("the README of a published package names each folder of its sources", () => {
  const manifests = globSync("packages/*/package.json", { cwd: ROOT });
  assert.ok(manifests.length >= 8);
  const lacking = manifests.flatMap((manifest) => {
    const folder = dirname(manifest);
    const readme = readFileSync(join(ROOT, folder, "README.md"), "utf8");
    // What @vidro/aon, @vidro/client and the command have inside is on the map alone: their readers use them.
    if (/\/(?:aon|client|cli)$/.test(folder)) return [];
    const names = new Set(inside(`${folder}/src`).flatMap(({ path }) => /\/src\/([\w-]+)\//.exec(path)?.[1] ?? []));
    return [...names]
      .filter((name) => !new RegExp(`[\`/]${name}(?:/|\\b)`).test(readme))
      .map((name) => `${folder}: ${name}`);
  });
  assertNone(lacking, "a reader of the package finds its folders");
});

test("the decision about our own router says how large it is", () => {
  const page = readFileSync(join(ROOT, "docs/decisions/0007-our-own-router.md"), "utf8");
  const [, files = "", lines = ""] = /(\d+) files of our own in [^,]+, about ([\d,]+) lines/.exec(page) ?? [];
  const http = inside("packages/brain/src/http");
  assert.ok(Math.abs(Number(files) - http.length) <= 2, `${http.length} files`);
  const written = http.map(({ text }) => text.split("\n").length - 1).reduce((sum, count) => sum + count, 0);
  assert.ok(Math.abs(Number(lines.replace(",", "")) / written - 1) < 0.1, `${written} lines`);
});

test("every invariant of ARCHITECTURE.md is named by a test", () => {
  const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const [, invariants = ""] = /^## Invariants$([\s\S]*?)^## /m.exec(page) ?? [];
  const numbers = [...invariants.matchAll(/^(\d+)\. /gm)].map(([, number]) => number);
  assert.ok(numbers.length >= 11);
  const tests = globSync(["packages/*/src/**/*.{test,contract}.ts", "tests/**/*.test.ts"], { cwd: ROOT })
    .filter((path) => !path.includes("node_modules"))
    .map((path) => readFileSync(join(ROOT, path), "utf8"))
    .join("\n");
  const unnamed = numbers.filter((number) => !new RegExp(`(?:test|it)\\(\\s*"[^"]*invariant ${number}\\b`).test(tests));
  assert.deepEqual(unnamed, []);
});

test("what commands write leaves by one file of each program, where it is made printable", () => {
  const allowed = [
    "packages/cli/src/program/output.ts",
    "packages/hands/src/program/terminal.ts",
    "packages/hands/src/program/signals.ts",
  ];
  const writers = product.filter(({ path, text }) => {
    if (!/^packages\/(cli|hands)\//.test(path) || allowed.includes(path)) return false;
    // The empty text waits for what was written before, at the end of a program.
    const rest = text.replaceAll('process.stdout.write("", ', "");
    return /process\.std(?:out|err)\.write|\bconsole\.(?:log|info|warn|error)|boundedLines\(process/.test(rest);
  });
  assert.deepEqual(
    writers.map(({ path }) => path),
    [],
  );
});

test("no file of the product has more than 400 lines, and engine.ts at most 10 imports", () => {
  const long = product.filter(({ text }) => text.split("\n").length > 401).map(({ path }) => path);
  assertNone(long, "a long file has a second thing inside");
  const engine = product.find(({ path }) => path === "packages/brain/src/run/engine.ts");
  assert.ok((engine?.imports.length ?? 99) <= 10);
});

test("the linter holds functions of the product to 60 lines and 3 positional parameters", () => {
  const { rules } = JSON.parse(readFileSync(join(ROOT, ".oxlintrc.json"), "utf8"));
  assert.deepEqual(rules["max-lines-per-function"], ["error", { max: 60 }]);
  assert.deepEqual(rules["max-params"], ["error", { max: 3 }]);
});

test("every exported thing says its contract in a sentence", () => {
  const offenders = product.flatMap(({ path, text }) => {
    const lines = text.split("\n");
    return lines.flatMap((line, index) => {
      if (!/^export (?:async )?(?:function|class|const|interface|type) \w/.test(line)) return [];
      const before = lines[index - 1] ?? "";
      return before.trim().endsWith("*/") || before.startsWith("//") ? [] : [`${path}:${index + 1} ${line}`];
    });
  });
  assertNone(offenders, "exports are documented");
});

test("no export of hands, brain or cli is without a file that names it", () => {
  const words = new Map(
    globSync(["packages/*/src/**/*.ts", "{tests,bench,scripts}/**/*.ts"], {
      cwd: ROOT,
      exclude: ["**/node_modules/**"],
    }).map((path) => [path, new Set(readFileSync(join(ROOT, path), "utf8").match(/\w+/g))] as const),
  );
  const offenders = product
    .filter(({ path }) => /^packages\/(?:hands|brain|cli)\//.test(path))
    .flatMap(({ path, text }) => {
      const names = [...text.matchAll(EXPORTED)].map(([, name = ""]) => name);
      const isNamed = (name: string): boolean => [...words].some(([other, known]) => other !== path && known.has(name));
      return names.filter((name) => !isNamed(name)).map((name) => `${path} exports ${name}`);
    });
  assertNone(offenders, "what only its own file names is not exported");
});

test("an exported name has one meaning: no two files of the packages export the same one", () => {
  const files = new Map<string, Set<string>>();
  for (const { path, text } of product)
    for (const [, name = ""] of text.matchAll(EXPORTED)) files.set(name, (files.get(name) ?? new Set()).add(path));
  assertNone(
    [...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(", ")}`),
    "a name that two files export is found twice by a search",
  );
});

test("no file has a name that says nothing, and nothing is left open", () => {
  const empty = /\/(util|utils|helper|helpers|common|manager|service|handler|impl|base|types|misc)\.ts$|V2/;
  assertNone(
    sources.filter(({ path }) => empty.test(path)).map(({ path }) => path),
    "names are glossary nouns",
  );
  const open = /(?:\/\/|\*).*\b(?:TO[D]O|FIX[M]E|XX[X])\b/;
  assertNone(
    product.filter(({ text }) => open.test(text)).map(({ path }) => path),
    "nothing is left open",
  );
});

test("no type has a word in its name that GLOSSARY.md tells to avoid", () => {
  const rows = readFileSync(join(ROOT, "GLOSSARY.md"), "utf8").matchAll(/^\| \*\*[^|]*\|[^|]*\|([^|]*)\|/gm);
  // A word with brackets has a meaning of its own.
  const words = [...rows].flatMap(([, avoid = ""]) => avoid.split(/,(?![^(]*\))/)).map((word) => word.trim());
  const avoided = words.filter((word) => /^[\w -]+$/.test(word)).map((word) => word.replaceAll(/[ -]/g, ""));
  assert.ok(avoided.length > 20);
  const found = new RegExp(
    `(?<![A-Z])(?:${avoided.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("|")})(?![a-z])`,
  );
  const offenders = product.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm)]
      .filter(([, name = ""]) => found.test(name))
      .map(([, name]) => `${path}: ${name}`),
  );
  assertNone(offenders, "code and glossary agree");
});

/** A participle that is the whole name. */
const PARTICIPLE =
  /^(?:[A-Za-z][a-z]*ed|[Tt]aken|[Ss]aid|[Kk]nown|[Kk]ept|[Tt]old|[Gg]iven|[Hh]eld|[Ss]een|[Dd]one|[Gg]one|[Mm]ade|[Ff]ound|[Ss]hown|[Ww]ritten|[Ss]ent|[Ll]ost|[Cc]hosen|[Dd]riven|[Ww]oken|[Ss]poken|[A-Za-z][a-z]+ing)$/;

/** Words that end like participles and are nouns or verbs. */
const NOUNS_AND_VERBS = [
  "Briefing",
  "Deferred",
  "deferred",
  "Feed",
  "Finding",
  "Greeting",
  "ping",
  "Sampling",
  "Setting",
  "Understanding",
];

test("types are nouns and functions are verbs: none is a bare participle", () => {
  const declared = /^\s*(?:export )?(?:async )?(?:abstract )?(?:function\*?|class|interface|type) (\w+)(?=[ <(])/gm;
  const offenders = product.flatMap(({ path, text }) =>
    [...text.matchAll(declared)]
      .map(([, name = ""]) => name)
      .filter((name) => PARTICIPLE.test(name) && !NOUNS_AND_VERBS.includes(name))
      .map((name) => `${path}: ${name}`),
  );
  assertNone(offenders, "a reader learns what a name stands for from the name");
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}
