import assert from "node:assert/strict";
import { test } from "node:test";
import { findMovedInLine, findMovedInWords } from "./moved-paths.ts";

test("operands of mv, rm and rmdir are found in a line, and where mv puts them is not one", () => {
  for (const [line, moved] of [
    ["mv /x/d /x/e", ["/x/d"]],
    ["mv a b ~ 2>/dev/null", ["a", "b"]],
    ["mv -t /y /x/d", ["/y", "/x/d"]],
    ["cd /x && /bin/rm -rf 'd'; echo ok", ["d"]],
    ["env A=1 rmdir d e | cat", ["d", "e"]],
    ['bash -c "mv d e"', ["d"]],
    ["ls /x/d; cp /x/d /x/e", []],
  ] as const)
    assert.deepEqual(findMovedInLine(line), moved, line);
});

test("they are found in the words of a program, and in a line that it is given", () => {
  assert.deepEqual(findMovedInWords(["mv", "/x/with blank", "/y"]), ["/x/with blank"]);
  assert.deepEqual(findMovedInWords(["sh", "-c", "mv /x/d /x/e"]), ["/x/d"]);
  assert.deepEqual(findMovedInWords(["find", "/x", "-name", "d"]), []);
});
