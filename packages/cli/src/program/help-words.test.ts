import assert from "node:assert/strict";
import { test } from "node:test";
import { helpIn } from "./help-words.ts";
import { buildProgram } from "./program.ts";

test("the help of vidro and of vidro run is in the language of the terminal, every sentence of it", () => {
  const root = buildProgram("0", () => undefined);
  const run = root.commands.find((command) => command.name() === "run")!;
  const english = [root, run].map((command) => command.helpInformation());
  for (const [language, usage] of [
    ["pt", /^Uso: vidro[^]*\nOpções:[^]*\nComandos:/],
    ["es", /^Uso: vidro[^]*\nOpciones:[^]*\nComandos:/],
  ] as const) {
    const words = helpIn(language);
    for (const command of [root, ...root.commands]) {
      const shown = words.commandDescription!(command);
      if (command.name() !== "help") assert.notEqual(shown, command.description(), `${language}: ${command.name()}`);
    }
    for (const option of run.options)
      assert.notEqual(words.optionDescription!(option), option.description, option.flags);
    root.configureHelp({ ...root.configureHelp(), ...words });
    assert.match(root.helpInformation(), usage);
  }
  assert.match(english[0] ?? "", /^Usage: vidro/);
});
