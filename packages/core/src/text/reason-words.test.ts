import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonWords } from "./reason-words.ts";

test("a reason is in the reader's language, and what it names stays as it is", () => {
  assert.equal(reasonWords("it changes files", "pt"), "muda arquivos");
  assert.equal(reasonWords("it changes files", "es"), "cambia archivos");
  assert.equal(reasonWords("it changes files", "en"), "it changes files");
  assert.equal(
    reasonWords("no rule allows it, so a person decides (shell-looks: the access is host)", "pt"),
    "nenhuma regra permite, e por isso uma pessoa decide (shell-looks: the access is host)",
  );
  assert.equal(
    reasonWords("it names /home/a/{rule}/$&: Vidro's own state is never given out or changed", "es"),
    "nombra /home/a/{rule}/$&: el estado del propio Vidro nunca se entrega ni se cambia",
  );
});

test("a reason that a person wrote into a policy stays as it is", () => {
  for (const reason of ["nur freitags", "", "toString", "rule"]) assert.equal(reasonWords(reason, "pt"), reason);
});
