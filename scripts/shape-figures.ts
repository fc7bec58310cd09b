import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { NODE, NODE_FLAGS, ROOT } from "./setup.js";
import { splitPath, tokenPath } from "./token-path.ts";
import { placesToTouch } from "./shape/places.ts";

/* Figures of the source: files in folders, sizes, what commands load, what a token passes, packages of others. */

// A reader such as `head` may have enough before the end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const CLI = `${ROOT}packages/cli/src/main.ts`;
const HAND = `${ROOT}packages/hands/src/main.ts`;
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
const functions = productFunctions().sort((a, b) => b.lines - a.lines);
table([
  ["files of the product", product.length],
  ["lines of the product", sum(sizes.map(({ lines }) => lines))],
  ["files of tests", tests.length],
  ["lines of tests", sum(tests.map(linesOf))],
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
const { passing, asked } = splitPath(await tokenPath());
table([["hand it on, in this order", passing.length]]);
for (const path of passing) process.stdout.write(`         ${path}\n`);
table([["are asked about it by one of those, and return to it", asked.length]]);
for (const path of asked) process.stdout.write(`         ${path}\n`);

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

/** The functions of the product, as the linter counts their lines. */
function productFunctions(): FunctionSize[] {
  const folder = mkdtempSync(join(tmpdir(), "vidro-shape-"));
  const config = join(folder, "lint.json");
  const rules = { "max-lines-per-function": ["error", { max: 1 }] };
  writeFileSync(config, JSON.stringify({ categories: { correctness: "off" }, rules }));
  const { stdout, stderr } = spawnSync(
    `${ROOT}scripts/node_modules/.bin/oxlint`,
    ["--config", config, "--format", "json", ...globSync("packages/*/src", { cwd: ROOT })],
    { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  rmSync(folder, { recursive: true, force: true });
  if (!stdout.includes('"diagnostics"')) throw new Error(`The linter gave no figures: ${stderr}`);
  const { diagnostics } = JSON.parse(stdout) as {
    readonly diagnostics: readonly { readonly message: string; readonly filename: string }[];
  };
  return diagnostics
    .filter(({ filename }) => !isTest(filename))
    .map(({ message, filename: path }) => {
      const [, name = "a function without a name"] = /`(.+)`/.exec(message) ?? [];
      return { path, name, lines: Number(/too many lines \((\d+)\)/.exec(message)?.[1]) };
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
