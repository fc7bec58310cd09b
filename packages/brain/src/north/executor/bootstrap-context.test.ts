import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "@vidro/core";
import type { Look } from "@vidro/core/run";
import { bootstrapContext } from "./bootstrap-context.ts";

test("004-09 the bootstrap context holds the executor's data, and a sentence for each part that is missing", () => {
  const value = (text: string, data?: Extract<Outcome, { kind: "value" }>["data"]): Outcome =>
    data === undefined ? { kind: "value", text } : { kind: "value", text, data };
  const of = (...rows: readonly (readonly [Look, Outcome])[]) => bootstrapContext(new Map(rows));
  assert.deepEqual(
    of(
      ["bootstrap-where", value("/p", { path: "/p" })],
      ["bootstrap-files", value("drwx a", { entries: [{ name: "a" }, { name: "b" }] })],
      ["bootstrap-plan", value("plan")],
    ),
    { working_directory: "/p", files: ["a", "b"], plan: "plan" },
  );
  assert.deepEqual(of(["bootstrap-where", value("/p\n")], ["bootstrap-files", value("a\n\nb")]), {
    working_directory: "/p",
    files: ["a", "b"],
  });
  assert.deepEqual(of(["bootstrap-files", value("…", ["a"])]), { working_directory: "", files: ["a"] });
  assert.deepEqual(of(), { working_directory: "", files: [] });
});
