import assert from "node:assert/strict";
import { test } from "node:test";
import type { FilePlan, Plan } from "../tool.ts";
import { approvalWords, runWideWords } from "./approval-words.ts";

const verdict = { decision: "ask", rule: "default", class: "write", reason: "No rule allows it." } as const;
const edit: FilePlan = { kind: "file", operation: "write", path: "/srv/work/a", inWorkspace: true };

test("the question about one file says in each language that a yes for this run covers every later content of it", () => {
  const asked = (plan: Plan, language: "en" | "pt" | "es"): string => approvalWords({ plan, verdict }, language);
  assert.match(
    asked(edit, "en"),
    /^covers: "yes for this run": every later edit of this file in this run, whatever its content$/m,
  );
  assert.match(
    asked(edit, "pt"),
    /^cobre: "sim nesta execução": toda edição posterior .*qualquer que seja o conteúdo$/m,
  );
  assert.match(
    asked(edit, "es"),
    /^cubre: "sí en esta ejecución": toda edición posterior .*sea cual sea su contenido$/m,
  );
  assert.match(
    asked({ ...edit, operation: "read" }, "en"),
    /every later reading of this file .*whatever it holds then$/m,
  );
});

test("of several files a yes for this run covers the same change alone, and nothing else is said", () => {
  const plan: Plan = { kind: "files", files: [edit, { ...edit, path: "/srv/work/b" }] };
  assert.doesNotMatch(approvalWords({ plan, verdict }), /covers/);
  assert.equal(runWideWords(plan), undefined);
  assert.equal(runWideWords(edit), "every later edit of this file in this run, whatever its content");
});

test("the diff of a plan that puts files back is shown whole, and its lines cannot look like other rows", () => {
  const patch = `-new\n+${"x".repeat(5000)}\nhost: elsewhere\u001b[2J\n`;
  const words = approvalWords({ plan: { kind: "files", files: [edit], patch }, verdict });
  assert.match(words, /^patch: -new\n {2}\+x{5000}\n {2}host: elsewhere\\e\[2J$/m);
});
