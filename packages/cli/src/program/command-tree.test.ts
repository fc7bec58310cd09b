import assert from "node:assert/strict";
import { test } from "node:test";
import { Command, Option } from "commander";
import { commandRows } from "./command-tree.ts";
import { buildProgram } from "./program.ts";

test("every command stands once in the table, each before those below it, and none is called help", () => {
  const rows = commandRows(buildProgram("0", () => undefined));
  const paths = rows.map(({ path }) => path);
  assert.equal(paths[0], "");
  assert.equal(new Set(paths).size, paths.length);
  for (const { path, below } of rows) {
    const places = below.map(({ name }) => paths.indexOf(path === "" ? name : `${path} ${name}`));
    assert.ok(
      places.every((place) => place > paths.indexOf(path)),
      path,
    );
  }
  assert.ok(!paths.some((path) => path.split(" ").includes("help")));
});

test("every command, argument and flag has words, which begin small and end without a full stop", () => {
  for (const { path, description, arguments: words, options } of commandRows(buildProgram("0", () => undefined))) {
    for (const text of [
      ...(path === "" ? [] : [description]),
      ...[...words, ...options].map((one) => one.description),
    ]) {
      assert.ok(text.length > 2, path);
      assert.doesNotMatch(text, /\.$|^\s|\s$|\s{2}/, `${path}: ${text}`);
      assert.match(
        text,
        /^(?:[^A-Z]|[A-Z]{2,}|JSON|PostgreSQL|Redis|TLS|PEM|I )|^[A-Z][a-z]+(?:SQL|S\b)/u,
        `${path}: ${text}`,
      );
    }
  }
});

test("no command has two flags of one name, long or short", () => {
  for (const { path, options } of commandRows(buildProgram("0", () => undefined)))
    for (const names of [options.map(({ long }) => long), options.flatMap(({ short }) => short ?? [])])
      assert.equal(new Set(names).size, names.length, path);
});

test("hidden flags are left out; choices, values and short names are told", () => {
  const program = new Command("x")
    .addOption(new Option("--secret").hideHelp())
    .addOption(new Option("-k, --kind <kind>", "which").choices(["a", "b"]))
    .option("-q", "only short")
    .option("--maybe [value]", "may have one")
    .argument("<one>", "first")
    .argument("[rest...]", "others");
  const [row] = commandRows(program);
  assert.deepEqual(row?.options, [
    {
      flags: "-k, --kind <kind>",
      short: "-k",
      long: "--kind",
      description: "which",
      takesValue: true,
      choices: ["a", "b"],
    },
    { flags: "-q", short: "-q", long: "-q", description: "only short", takesValue: false, choices: [] },
    { flags: "--maybe [value]", long: "--maybe", description: "may have one", takesValue: true, choices: [] },
  ]);
  assert.equal(row?.usage, "<one> [rest...]");
});
