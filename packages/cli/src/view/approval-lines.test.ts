import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import type { Approvable } from "@vidro/core/text";
import type { Plan } from "@vidro/core";
import { approvalLines } from "./approval-lines.ts";
import { columnsOf } from "./columns.ts";
import { toTerminal, withoutControls } from "./control-sequences.ts";
import type { Paint } from "./symbols.ts";

const plain: Paint = (_, text) => text;
const tagged: Paint = (style, text) => `<${String(style)}>${text}</>`;

function asked(plan: object, input: object = {}, reason = "Because it changes files."): Approvable {
  return {
    plan: plan as Plan,
    verdict: { decision: "ask", rule: "r1", class: "write", reason },
    action: { id: "act_1", tool: "x", input },
  } as unknown as Approvable;
}

const shell = (command: string) => ({ kind: "shell", command, cwd: "/srv/app", env: {}, timeoutMs: 1000, digests: {} });
const write = { kind: "file", operation: "write", path: "/srv/app/x", digests: {} };

/** The lines without marks, as a terminal with UTF-8 shows them. */
const linesOf = (about: Approvable, columns = 80, paint = plain): readonly string[] =>
  approvalLines(about, "en", { paint, columns }).map(withoutControls);

const before = process.env["LC_ALL"];
afterEach(() => {
  if (before === undefined) delete process.env["LC_ALL"];
  else process.env["LC_ALL"] = before;
});

describe("an approval", () => {
  test("shows a command to the letter at every width: nothing of it is broken or left out", () => {
    const command = `for f in ${"file ".repeat(60)}; do rm -- "$f"; done  # two  blanks`;
    for (const columns of [20, 40, 80, 200])
      assert.ok(
        linesOf(asked(shell(command)), columns).some((line) => line.includes(command)),
        `in ${columns} columns`,
      );
  });

  test("breaks its sentences between words, and indents what follows below the first", () => {
    const reason = "a sentence of many short words that goes on and on until it is wider than any narrow terminal";
    for (const columns of [20, 40, 80]) {
      const lines = linesOf(asked(shell("ls"), {}, reason), columns);
      const at = lines.findIndex((line) => line.includes("a sentence"));
      const told = lines.slice(at).filter((line, index) => index === 0 || /^ {10}\S/.test(line));
      assert.ok(
        told.every((line) => columnsOf(line) <= columns),
        told.join("\n"),
      );
    }
  });

  test("shows each line of a command of several lines, and none of them as a row of its own", () => {
    const lines = linesOf(asked(shell("echo one\nwhy       all is well\nrm -rf x")));
    assert.ok(lines.includes("          rm -rf x") || lines.some((line) => line.includes(String.raw`\n`)));
    assert.ok(!lines.some((line) => line.startsWith("why       all is well")));
  });

  test("shows an edit as a diff: lines that go in red, lines that come in green, and those of a patch by their sign", () => {
    const edit = asked(write, { old_string: "a\nb\n", new_string: "c" });
    const lines = linesOf(edit, 80, tagged);
    for (const line of ["<red>- a</>", "<red>- b</>", "<green>+ c</>"])
      assert.ok(
        lines.some((one) => one.trim() === line),
        `${line} in ${lines.join("\n")}`,
      );
    const patch = asked(write, { patch: "@@ -1 +1 @@\n-old\n+new\n same\n" });
    const shown = linesOf(patch, 80, tagged).map((line) => line.trim());
    for (const line of ["<dim>@@ -1 +1 @@</>", "<red>-old</>", "<green>+new</>", "<dim> same</>"])
      assert.ok(shown.includes(line), line);
  });

  test("takes fields of the same names for a diff only in a plan that writes files", () => {
    const lines = linesOf(asked(shell("ls"), { content: "x" }), 80, tagged);
    assert.ok(!lines.some((line) => line.includes("<green>")));
  });

  test("shows invisible and turning characters of what is written by their codes", () => {
    const lines = linesOf(asked(write, { content: "a\u200bb\u202ec\u0000d\u00ade" }));
    const text = lines.join("\n");
    for (const code of ["200b", "202e", "00ad"]) assert.match(text, new RegExp(code, "i"));
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch(text, /[\u0000-\u0009\u200b\u202e\u00ad]/);
  });

  test("shows quotes of typographers as they are, also where our own signs are typed", () => {
    process.env["LC_ALL"] = "C";
    const command = "echo “a; rm -rf b” – ’x’ › y │ z …";
    const lines = approvalLines(asked(shell(command)), "en", { paint: plain, columns: 80 }).map(toTerminal);
    assert.ok(
      lines.some((line) => line.includes(command)),
      lines.join("\n"),
    );
    const edit = approvalLines(asked(write, { content: "“x”" }), "en", { paint: plain, columns: 80 }).map(toTerminal);
    assert.ok(edit.some((line) => line.includes("+ “x”")));
  });

  test("asks in the language of the task", () => {
    const questions = (["en", "pt", "es"] as const).map(
      (language) => approvalLines(asked(shell("ls")), language, { paint: plain, columns: 80 })[0],
    );
    assert.equal(new Set(questions).size, 3);
  });
});
