import { statSync } from "node:fs";
import type { Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { HAND_LIMITS, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { isWrapper } from "@vidro/core/policy";
import { readFileStart } from "../files/regular-file.ts";

/*
 * Files that programs run although the command line does not name them: `make` a Makefile, `npm run x` a script of
 * package.json, `python -m x` a module. They are found from the words of the command as far as possible.
 */

/** Files that a program searches for in its working folder. */
const LOOKED_FOR: { readonly [program: string]: string } = {
  make: "GNUmakefile makefile Makefile",
  gmake: "GNUmakefile makefile Makefile",
  just: "justfile Justfile .justfile",
  rake: "Rakefile rakefile",
  task: "Taskfile.yml Taskfile.yaml",
  cargo: "Cargo.toml build.rs .cargo/config.toml",
  cmake: "CMakeLists.txt CMakePresets.json",
  ninja: "build.ninja",
  gradle: "build.gradle build.gradle.kts settings.gradle settings.gradle.kts",
  mvn: "pom.xml",
  go: "go.mod",
  deno: "deno.json deno.jsonc",
  docker: "Dockerfile compose.yaml compose.yml docker-compose.yaml docker-compose.yml",
  podman: "Containerfile Dockerfile compose.yaml compose.yml",
  tox: "tox.ini pyproject.toml",
  pytest: "conftest.py pytest.ini pyproject.toml",
  terraform: "main.tf",
};

/** Programs that run scripts of the nearest package.json and programs of its node_modules. */
const PACKAGE_RUNNERS = new Set(["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"]);

/** Programs that find a JavaScript module without its extension. */
const MODULE_RUNNERS = new Set(["node", "nodejs", "tsx", "ts-node", "bun"]);
const MODULE_ENDINGS = [".js", ".mjs", ".cjs", ".ts", "/index.js", "/package.json"];

/** Aliases of scripts that need no `run`: `npm t` is `npm run test`. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ["t", "test"],
  ["tst", "test"],
  ["it", "test"],
  ["cit", "test"],
  ["install-test", "test"],
  ["install-ci-test", "test"],
]);

/** Words by which package runners install, which runs scripts of the package too. */
const INSTALLS = new Set(
  "install i in ins add ci clean-install it cit install-test install-ci-test update up upgrade rebuild link".split(" "),
);
/** Words by which they make an archive of the package. */
const PACKS = new Set(["pack", "publish"]);

/** Programs that run the files they are given, besides the wrappers that core knows. */
const READERS = new Set(["psql", "sqlite3", "mysql", "ansible-playbook", "terraform", "source", "."]);

/** Words that can name a module or a folder; other words are not looked up. */
const PLAIN = /^[\w./@+-]+$/u;

/** Whether a program runs the content of the files that it is given. */
export function runsGivenFiles(name: string): boolean {
  return isWrapper(name) || READERS.has(name) || Object.hasOwn(LOOKED_FOR, name);
}

/** Files that a command runs besides those that it names. */
interface ImpliedRuns {
  /** Paths of files that are run if they exist. */
  readonly files: readonly string[];
  /** Lines that a shell would run, and their working folder. */
  readonly lines: readonly { readonly line: string; readonly cwd: string }[];
  /** Programs that search for files themselves, so that unknown files may run too. */
  readonly runners: readonly string[];
}

/** Finds what the words of a command run implicitly in a working folder. */
export function findImpliedRuns(words: readonly string[], cwd: string): ImpliedRuns {
  const names = new Set(words.map((word) => withoutVersion(basename(word))));
  const plain = [...new Set(words)].filter((word) => PLAIN.test(word) && word.length <= HAND_LIMITS.pathChars);
  const has = (programs: ReadonlySet<string>): boolean => [...names].some((name) => programs.has(name));
  const folders = [cwd, ...plain.flatMap((word) => foldersOf(word, cwd))];
  const sought = [...names].filter((name) => Object.hasOwn(LOOKED_FOR, name));
  const files = sought.flatMap((name) => (LOOKED_FOR[name] ?? "").split(" "));
  const packages = has(PACKAGE_RUNNERS) ? [...new Set(folders.flatMap(nearestPackage))] : [];
  return {
    files: [
      ...folders.flatMap((folder) => files.map((file) => join(folder, file))),
      ...packages,
      ...packages.flatMap((file) => plain.map((word) => join(dirname(file), "node_modules/.bin", word))),
      ...(has(MODULE_RUNNERS)
        ? plain.flatMap((word) => MODULE_ENDINGS.map((ending) => resolve(cwd, word) + ending))
        : []),
      ...pythonModules(words).flatMap((name) => modulePaths(name, cwd)),
    ],
    lines: packages.flatMap((file) => scriptLines(file, plain)),
    runners: [...sought, ...[...names].filter((name) => PACKAGE_RUNNERS.has(name))],
  };
}

/** A run of digits is looked at from its first one only: a word may be as long as a line. */
const withoutVersion = (name: string): string => name.replace(/(?<![-.\d])[-.\d]+$/u, "") || name;

/** The folder that a word names, alone or behind an option such as `-Csub`. */
function foldersOf(word: string, cwd: string): readonly string[] {
  const path = resolve(cwd, word.startsWith("-") ? word.slice(2) : word);
  return path !== cwd && statIfAny(path)?.isDirectory() === true ? [path] : [];
}

/** The stat of a path; undefined if it cannot be read or the name is too long. */
function statIfAny(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function nearestPackage(folder: string): readonly string[] {
  const file = join(folder, "package.json");
  if (statIfAny(file)?.isFile() === true) return [file];
  return dirname(folder) === folder ? [] : nearestPackage(dirname(folder));
}

/** Scripts of a package.json that the words name, with their pre and post scripts. */
function scriptLines(file: string, words: readonly string[]): ImpliedRuns["lines"] {
  const scripts = scriptsOf(file);
  const named = new Set(words.map((word) => SHORT.get(word) ?? word));
  // yarn alone installs.
  const isInstall = words.some((word) => INSTALLS.has(word)) || words.every((word) => basename(word) === "yarn");
  const hooks = [...(isInstall ? INSTALL_HOOKS : []), ...(words.some((word) => PACKS.has(word)) ? PACK_HOOKS : [])];
  for (const hook of hooks) named.add(hook);
  return [...named]
    .flatMap((name) => [`pre${name}`, name, `post${name}`])
    .flatMap((name) => {
      const line = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
      return typeof line === "string" ? [{ line, cwd: dirname(file) }] : [];
    });
}

const INSTALL_HOOKS = ["install", "prepublish", "prepare"];
const PACK_HOOKS = ["prepublishOnly", "prepare", "pack"];

function scriptsOf(file: string): { readonly [name: string]: unknown } {
  const start = readFileStart(file, HAND_LIMITS.fileBytes);
  if (start === undefined || start.isCut) return {};
  try {
    const found = parseJson(start.bytes.toString("utf8"));
    return isObject(found) && isObject(found["scripts"]) ? found["scripts"] : {};
  } catch {
    return {};
  }
}

/** Modules that are run by name: `python -m name`. */
function pythonModules(words: readonly string[]): readonly string[] {
  if (!words.some((word) => /^(?:python|pypy)[\d.]*$/u.test(basename(word)))) return [];
  return words.flatMap((word, index) => {
    if (word === "-m") return words.slice(index + 1, index + 2);
    return word.startsWith("-m") ? [word.slice(2)] : [];
  });
}

function modulePaths(name: string, cwd: string): readonly string[] {
  if (!/^\w+(?:\.\w+)*$/u.test(name)) return [];
  const parts = name.split(".");
  const around = parts.map((_, index) => join(cwd, ...parts.slice(0, index + 1), "__init__.py"));
  return [`${join(cwd, ...parts)}.py`, join(cwd, ...parts, "__main__.py"), ...around];
}
