import { isObject, OFFLINE_LIMITS } from "@vidro/core";
import { readFolderNames, testCommandIn } from "./read-files.ts";
import { outputLines, readOutput } from "./read-output.ts";
import { learn, runProgram, shortLine, use } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { goodLines } from "./skills-work.ts";
import type { Want } from "./want.ts";
import { rows } from "./wording.ts";

/** The files that say what a project is, with the kind of project that each gives away. */
const MANIFESTS: readonly (readonly [string, string])[] = [
  ["package.json", "Node.js"],
  ["Cargo.toml", "Rust"],
  ["pyproject.toml", "Python"],
  ["requirements.txt", "Python"],
  ["go.mod", "Go"],
  ["pom.xml", "Java"],
  ["build.gradle", "Java"],
  ["Gemfile", "Ruby"],
  ["composer.json", "PHP"],
  ["CMakeLists.txt", "C++"],
  ["Makefile", "make"],
];

function* namesHere(desk: Desk): Skill<readonly string[]> {
  const learnt = yield* learn(desk, [{ call: use(desk, "read_folder", { dir_path: "." }), read: readFolderNames }]);
  if ("facts" in learnt) return learnt.facts;
  const plain = yield* learn(desk, [{ call: runProgram(desk, "ls", "-A"), read: (text) => goodLines(text) }]);
  return "facts" in plain ? plain.facts : [];
}

function* fileText(path: string, desk: Desk): Skill {
  const read = (text: string) => (readOutput(text).exitCode === 0 ? readOutput(text).stdout : undefined);
  const tool = use(desk, "read_file", { file_path: path });
  const learnt = yield* learn(desk, [{ call: tool ?? runProgram(desk, "cat", "--", path), read }]);
  return "facts" in learnt ? learnt.facts : "";
}

/** A project's manifest: its file, the kind of project, and its text. */
interface Manifest {
  readonly file: string;
  readonly kind: string;
  readonly text: string;
}

function* manifestHere(names: readonly string[], desk: Desk): Skill<Manifest | undefined> {
  const found = MANIFESTS.find(([file]) => names.includes(file));
  return found === undefined ? undefined : { file: found[0], kind: found[1], text: yield* fileText(found[0], desk) };
}

function jsonField(text: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value[name] : undefined;
  } catch {
    return undefined;
  }
}

function stringField({ file, text }: Manifest, name: string): string | undefined {
  const value = file.endsWith(".json")
    ? jsonField(text, name)
    : new RegExp(`^${name}\\s*=\\s*"([^"]+)"`, "m").exec(text)?.[1];
  if (name === "name" && file === "go.mod") return /^module (\S+)/m.exec(text)?.[1];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The project's name and purpose, by its manifest and the beginning of its README. */
export function* project(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const names = yield* namesHere(desk);
  const manifest = yield* manifestHere(names, desk);
  const readme = names.find((name) => /^readme/i.test(name));
  const about = readme === undefined ? [] : firstWords(yield* fileText(readme, desk));
  if (manifest === undefined && about.length === 0) return say("noProject");
  const name = manifest === undefined ? undefined : stringField(manifest, "name");
  const version = manifest === undefined ? undefined : stringField(manifest, "version");
  const called = name === undefined ? "" : say("called", { name: version === undefined ? name : `${name} ${version}` });
  const kind = manifest === undefined ? [] : [say("projectKind", { kind: manifest.kind, named: called })];
  const description = manifest === undefined ? undefined : stringField(manifest, "description");
  return [...kind, ...(description === undefined ? about : [description])].map((line) => shortLine(line)).join("\n");
}

/** The title of a README and its first sentence. */
function firstWords(text: string): readonly string[] {
  const lines = outputLines(text).filter((line) => !/^\s*(!\[|<|\[!|```|---)/.test(line));
  const title = lines[0]?.replace(/^#+\s*/, "");
  const first = lines.slice(1).find((line) => !line.startsWith("#"));
  return [title, first?.replaceAll("**", "")].filter((line) => line !== undefined);
}

const LANGUAGES: ReadonlyMap<string, string> = new Map(
  `ts:TypeScript tsx:TypeScript mts:TypeScript js:JavaScript jsx:JavaScript mjs:JavaScript cjs:JavaScript py:Python rs:Rust go:Go
   java:Java kt:Kotlin rb:Ruby php:PHP c:C h:C cpp:C++ cc:C++ hpp:C++ cs:C# swift:Swift scala:Scala sh:Shell bash:Shell
   html:HTML css:CSS scss:CSS sql:SQL lua:Lua pl:Perl r:R dart:Dart ex:Elixir exs:Elixir hs:Haskell vue:Vue svelte:Svelte`
    .split(/\s+/)
    .map((pair) => [pair.slice(0, pair.indexOf(":")), pair.slice(pair.indexOf(":") + 1)] as const),
);

/** Which languages the project is written in, by the endings of its files. */
export function* languages(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const search = ["-name", ".git", "-prune", "-o", "-name", "node_modules", "-prune", "-o", "-type", "f", "-print"];
  const learnt = yield* learn(desk, [
    {
      call: runProgram(desk, "git", "ls-files"),
      read: (text) => (goodLines(text)?.length ? goodLines(text) : undefined),
    },
    { call: runProgram(desk, "find", ".", ...search), read: (text) => goodLines(text) },
  ]);
  if ("trouble" in learnt) return learnt.trouble;
  const counts = new Map<string, number>();
  for (const path of learnt.facts) {
    const language = LANGUAGES.get(/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "");
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const names = [...counts].sort(([, one], [, other]) => other - one).map(([name, count]) => `${name} (${count})`);
  return names.length === 0 ? say("noLanguages") : say("languages", { names: names.slice(0, 5).join(", ") });
}

/** Which packages the project names, or whether it names one. */
export function* dependencies(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { name } = want;
  const manifest = yield* manifestHere(yield* namesHere(desk), desk);
  if (manifest === undefined) return say("noManifest");
  const { file } = manifest;
  if (name !== undefined) {
    const found = yield* dependencyWords(name, manifest, desk);
    return found === undefined ? say("dependsNot", { file, name }) : `${say("yes")} ${found}`;
  }
  const all = dependenciesIn(manifest);
  if (all.size === 0) return say("noDependencies", { file });
  const lines = [...all].map(([each, version]) => (version === "" ? each : `${each} ${version}`));
  return `${say("dependencies", { count: all.size, file })}\n${rows(lines, say, OFFLINE_LIMITS.quotedLines)}`;
}

/** What the project says of a package that it names; undefined when it names no such package. */
export function* dependencyHere(name: string, desk: Desk): Skill<string | undefined> {
  const manifest = yield* manifestHere(yield* namesHere(desk), desk);
  return manifest === undefined ? undefined : yield* dependencyWords(name, manifest, desk);
}

/** The range that a manifest names, and the version that npm put into the folder. */
function* dependencyWords(name: string, manifest: Manifest, desk: Desk): Skill<string | undefined> {
  const { say } = desk;
  const { file } = manifest;
  const [own, range] = [...dependenciesIn(manifest)].find(([each]) => each.toLowerCase() === name.toLowerCase()) ?? [];
  if (own === undefined || range === undefined) return undefined;
  const words = say("dependsOn", { file, name: range === "" ? own : `${own} ${range}` });
  if (file !== "package.json") return words;
  const installed = jsonField(yield* fileText(`node_modules/${own}/package.json`, desk), "version");
  return typeof installed === "string" ? `${words} ${say("dependencyInstalled", { version: installed })}` : words;
}

function dependenciesIn({ file, text }: Manifest): ReadonlyMap<string, string> {
  if (file.endsWith(".json")) {
    const parts = ["dependencies", "devDependencies", "require"].map((field) => jsonField(text, field));
    return new Map(
      parts
        .flatMap((part) => (isObject(part) ? Object.entries(part) : []))
        .map(([name, range]) => [name, typeof range === "string" ? range : ""]),
    );
  }
  if (file === "go.mod") return pairsIn(text, /^\s+([\w./-]+\.[\w./-]+) (v\S+)/gm);
  if (file === "requirements.txt") return pairsIn(text, /^([A-Za-z][\w.-]*)\s*([=<>~!]=?[^\s#;]*)?/gm);
  const section = /^\[(?:[\w.-]*dependencies)\]\n((?:(?!\[).*\n?)*)/gm;
  const tables = [...text.matchAll(section)].map(([, body = ""]) => body).join("\n");
  const listed = /^dependencies\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1] ?? "";
  return new Map([
    ...pairsIn(tables, /^([\w-]+)\s*=\s*"?([^"\n{]*)/gm),
    ...pairsIn(listed, /"([A-Za-z][\w.-]*)\s*([^"]*)"/g),
  ]);
}

function pairsIn(text: string, pattern: RegExp): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(pattern)].map(([, name = "", version = ""]) => [name, version.trim()] as const));
}

/** How the project is started, tested or built, and which commands it has. */
export function* start(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const names = yield* namesHere(desk);
  const manifest = yield* manifestHere(names, desk);
  const scripts = manifest === undefined ? [] : scriptsIn(manifest);
  if (want.text === "tests") {
    const known = testCommandIn(names);
    const command = known === "makefile" ? madeCommand(scripts, "test") : known?.join(" ");
    return command === undefined ? say("noTests") : say("testBy", { command });
  }
  const isBuild = want.text === "build";
  const command = isBuild ? buildCommand(manifest, scripts) : startCommand(names, manifest, scripts);
  const list =
    scripts.length === 0
      ? []
      : [
          say("scripts"),
          rows(
            scripts.map(([name, line]) => `${name}: ${shortLine(line)}`),
            say,
            OFFLINE_LIMITS.quotedLines,
          ),
        ];
  if (command === undefined && list.length === 0) return say("noStart");
  const first = command === undefined ? [] : [say(isBuild ? "buildBy" : "startBy", { command })];
  return [...first, ...list].join("\n");
}

type Script = readonly [string, string];

function madeCommand(scripts: readonly Script[], target: string): string | undefined {
  return scripts.map(([name]) => name).find((name) => name === `make ${target}`);
}

function buildCommand(manifest: Manifest | undefined, scripts: readonly Script[]): string | undefined {
  if (manifest?.kind === "Rust") return "cargo build";
  if (manifest?.kind === "Go") return "go build ./...";
  return scripts.map(([name]) => name).find((name) => name === "npm run build") ?? madeCommand(scripts, "build");
}

function scriptsIn({ file, text }: Manifest): readonly Script[] {
  if (file === "package.json") {
    const scripts = jsonField(text, "scripts");
    return isObject(scripts)
      ? Object.entries(scripts).map(
          ([name, line]) => [`npm run ${name}`, typeof line === "string" ? line : ""] as const,
        )
      : [];
  }
  if (file !== "Makefile") return [];
  return [...text.matchAll(/^([a-z][\w-]*)\s*:(?!=)(.*)$/gm)].map(
    ([, name = "", needs = ""]) => [`make ${name}`, needs.trim()] as const,
  );
}

function startCommand(
  names: readonly string[],
  manifest: Manifest | undefined,
  scripts: readonly Script[],
): string | undefined {
  const known = new Set(scripts.map(([name]) => name));
  if (known.has("npm run start")) return "npm start";
  if (known.has("npm run dev")) return "npm run dev";
  if (manifest?.kind === "Rust") return "cargo run";
  if (manifest?.kind === "Go") return "go run .";
  const script = ["main.py", "app.py", "manage.py", "server.js", "index.js", "main.js"].find((name) =>
    names.includes(name),
  );
  if (script !== undefined) return `${script.endsWith(".py") ? "python3" : "node"} ${script}`;
  if (known.has("make run")) return "make run";
  return names.some((name) => /^(docker-)?compose\.ya?ml$/.test(name)) ? "docker compose up" : undefined;
}
