import assert from "node:assert/strict";
import { test } from "node:test";
import { searchWords } from "./search-words.ts";

test("one and many are the same word in English, Portuguese and Spanish, with accents and without", () => {
  const same = [
    ["backup", "backups", "Backups"],
    ["service", "services"],
    ["policy", "policies"],
    ["process", "processes"],
    ["box", "boxes"],
    ["configuração", "configurações", "configuracao", "CONFIGURAÇÕES"],
    ["servidor", "servidores"],
    ["porta", "portas"],
    ["local", "locais"],
    ["nível", "níveis", "nivel"],
    ["configuración", "configuraciones"],
    ["red", "redes"],
    ["año", "años", "ano"],
    ["ﬁle", "file", "files"],
  ];
  for (const words of same)
    for (const word of words) assert.deepEqual(searchWords(word), searchWords(words[0] ?? ""), word);
});

test("words that differ stay apart, and numbers and short words are kept", () => {
  assert.deepEqual(searchWords("port 8080s, dns; eth0 is_up"), ["port", "8080s", "dns", "eth0", "is", "up"]);
  assert.notDeepEqual(searchWords("porta"), searchWords("port"));
  assert.notDeepEqual(searchWords("passe"), searchWords("paz"));
  assert.deepEqual(searchWords('" OR * -'), ["or"]);
});
