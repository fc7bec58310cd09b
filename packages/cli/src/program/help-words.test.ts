import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { commandRows } from "./command-tree.ts";
import { helpIn } from "./help-words.ts";
import { buildProgram } from "./program.ts";

const ALONE = ["Uso:", "Argumentos:"];

test("every sentence of the help of every command is in Portuguese and Spanish", () => {
  const rows = commandRows(buildProgram("0", () => undefined));
  assert.ok(rows.length > 50);
  for (const language of ["pt", "es"] as const) {
    const { commandDescription } = helpIn(language);
    const isMissing = (text: string): boolean =>
      text !== "" && commandDescription!(new Command().description(text)) === text;
    const missing = rows.flatMap(({ path, description, arguments: words, options }) =>
      [description, ...[...words, ...options].map((one) => one.description)]
        .filter((text) => isMissing(text))
        .map((text) => `vidro ${path}: ${text}`),
    );
    // Rows for these belong into program/help-words.
    assert.deepEqual(missing, [], `no ${language} words`);
  }
});

test("the help of a command is in the language of the terminal", () => {
  const root = buildProgram("0", () => undefined);
  const hands = root.commands.find((command) => command.name() === "hands")!;
  const join = hands.commands.find((command) => command.name() === "join")!;
  assert.match(root.helpInformation(), /^Usage: vidro/);
  for (const [language, options, words] of [
    ["pt", "Opções:", "entra no cérebro que convidou esta máquina"],
    ["es", "Opciones:", "se une al cerebro que invitó a esta máquina"],
  ] as const) {
    for (const command of [root, hands, join])
      command.configureHelp({ ...command.configureHelp(), ...helpIn(language) });
    const shown = join.helpInformation().replaceAll(/\s+/g, " ");
    for (const title of [...ALONE, options, words]) assert.ok(shown.includes(title), `${title} in ${shown}`);
    assert.match(root.helpInformation(), /\nComandos:/);
  }
});
