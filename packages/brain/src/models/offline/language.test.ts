import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { languageOf } from "./language.ts";

/** Files that a file imports statically, and their imports. */
function importedBy(file: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(file);
  if (file.endsWith(".json")) return found;
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/^import (?!type).* from "(\.[^"]+)"/gm)) {
    const imported = join(dirname(file), path);
    if (!found.has(imported)) importedBy(imported, found);
  }
  return found;
}

describe("the language of a task", () => {
  for (const [task, language] of [
    ["how much disk is free?", "en"],
    ["rewrite the parser so that it reports columns, then run its tests", "en"],
    ["gigas restantes neste hd?", "pt"],
    ["escreva um teste para o leitor de arquivos", "pt"],
    ["escribe una prueba para el lector de archivos", "es"],
    ["qué framework o libs se usan", "es"],
    ["que servidor dns está configurado", "pt"],
    ["crie endpoint", "pt"],
    ["crea endpoint de la api", "es"],
  ] as const)
    test(`${task} is ${language}`, () => assert.equal(languageOf(task, "en"), language));

  test("where nothing tells it is the one that was given", () => {
    for (const task of ["df -h", "uptime", "xkcd zorblat frob", ""]) assert.equal(languageOf(task, "pt"), "pt", task);
  });

  test("is told without the weights of the built-in model, which a run of another model never loads", () => {
    const files = [...importedBy(join(import.meta.dirname, "language.ts"))].map((file) => file.split("/").at(-1));
    assert.ok(files.includes("trained-languages.json"), files.join(" "));
    assert.ok(!files.includes("trained.json") && !files.includes("classifier.ts"), files.join(" "));
  });
});
