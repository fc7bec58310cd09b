import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { NODE, NODE_FLAGS, ROOT } from "./setup.js";
import { tokenPath } from "./token-path.ts";
import { placesToTouch } from "./shape/places.ts";

/* Figures of the source: files in folders, sizes, what commands load, what a token passes, packages of others. */

const CLI = `${ROOT}packages/cli/src/main.ts`;
const HAND = `${ROOT}packages/hands/src/main.ts`;
/** The first line of a function or method: how far in it stands, and its name. */
const BEGINNING = /^( *)(?:export |async |static |get |set )*(?:function\*? |\*|#)?(\w+)(?:<.*>)?\(.*(?:\{|\()$/;
const KEYWORD = /^(?:if|for|while|switch|return|await|throw|catch|test|it|describe)$/;
const isTest = (path: string): boolean => /\.(test|fixture|contract)\.ts$/.test(path);
const linesOf = (path: string): number => readFileSync(ROOT + path, "utf8").split("\n").length - 1;
const all = globSync("packages/*/src/**/*.ts", { cwd: ROOT }).sort();
const product = all.filter((path) => !isTest(path));
const tests = [...all.filter(isTest), ...globSync("tests/**/*.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] })];

title("Files in a folder (product, without tests)");
const folders = Map.groupBy(product, (path) => dirname(path));
table([...folders].map(([folder, files]) => [folder, files.length]));

title("Sizes");
const sizes = product.map((path) => ({ path, lines: linesOf(path) })).sort((a, b) => b.lines - a.lines);
const functions = product.flatMap(functionsIn).sort((a, b) => b.lines - a.lines);
table([
  ["files", product.length],
  ["lines", sum(sizes.map(({ lines }) => lines))],
  ["longest file", `${sizes[0]?.lines} ${sizes[0]?.path}`],
  ["longest function", `${functions[0]?.lines} ${functions[0]?.name} in ${functions[0]?.path}`],
  ["functions over 60 lines", functions.filter(({ lines }) => lines > 60).length],
  ["lines of tests to lines of product", ratio(sum(tests.map(linesOf)), sum(sizes.map(({ lines }) => lines)))],
]);

title("Files of one example of each kind, and other files that name it");
table(placesToTouch(product));

title("Source files that a command loads");
table(loads());

title("Source files that run for each token from a model's server to an SSE client");
const passed = await tokenPath();
table([[`(${passed.filter((path) => path.startsWith("packages/brain/")).length} of the brain)`, passed.length]]);
for (const path of passed) process.stdout.write(`         ${path}\n`);

title("Packages of others at run time");
for (const manifest of globSync("packages/*/package.json", { cwd: ROOT }).sort()) {
  const { name, dependencies = {} } = JSON.parse(readFileSync(ROOT + manifest, "utf8"));
  const others = Object.keys(dependencies).filter((one) => !one.startsWith("@vidro/"));
  table([[name, others.length === 0 ? "none" : others.join(", ")]]);
}

function title(text: string): void {
  process.stdout.write(`\n${text}\n`);
}

function table(rows: readonly (readonly (string | number)[])[]): void {
  for (const [name, value] of rows) process.stdout.write(`  ${String(value).padStart(5)}  ${name}\n`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function ratio(part: number, whole: number): string {
  return (part / whole).toFixed(2);
}

interface FunctionSize {
  readonly path: string;
  readonly name: string;
  readonly lines: number;
}

/** The functions and methods of a file, as its formatting shows them: each ends at a brace as far in as it began. */
function functionsIn(path: string): readonly FunctionSize[] {
  const lines = readFileSync(ROOT + path, "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const [, blanks, name] = BEGINNING.exec(line) ?? [];
    if (blanks === undefined || name === undefined || KEYWORD.test(name)) return [];
    const end = lines.findIndex((other, at) => at > index && other === `${blanks}}`);
    return end === -1 ? [] : [{ path, name, lines: end - index + 1 }];
  });
}

/** How many source files each command loads. */
function loads(): readonly (readonly [string, number])[] {
  const folder = mkdtempSync(join(tmpdir(), "vidro-shape-"));
  const hook = join(folder, "count.mjs");
  writeFileSync(
    hook,
    `import { registerHooks } from "node:module";
import { writeFileSync } from "node:fs";
const seen = new Set();
registerHooks({ load(url, context, next) { if (url.includes("/packages/")) seen.add(url); return next(url, context); } });
process.on("exit", () => writeFileSync(process.env.VIDRO_SHAPE, JSON.stringify([...seen])));
`,
  );
  const env = { ...process.env, HOME: folder, VIDRO_HOME: join(folder, "state"), VIDRO_MODEL: "offline" };
  const commands: readonly (readonly [string, readonly string[]])[] = [
    ["vidro --version", [CLI, "--version"]],
    ["vidro run, embedded", [CLI, "run", "what is the working directory?"]],
    ["vidro runs list, embedded", [CLI, "runs", "list"]],
    ["vidro run, against a daemon that is not there", [CLI, "run", "--url", "http://127.0.0.1:9", "x"]],
    ["vidro-hand --version", [HAND, "--version"]],
  ];
  const rows = commands.map(([name, args]): readonly [string, number] => {
    const out = join(folder, "seen.json");
    spawnSync(NODE, [...NODE_FLAGS, "--import", pathToFileURL(hook).href, ...args], {
      cwd: folder,
      env: { ...env, VIDRO_SHAPE: out },
      stdio: "ignore",
    });
    const seen = JSON.parse(readFileSync(out, "utf8")) as readonly string[];
    const brain = seen.filter((url) => url.includes("/packages/brain/")).length;
    return [`${name} (${brain} of the brain)`, seen.length];
  });
  rmSync(folder, { recursive: true, force: true });
  return rows;
}
