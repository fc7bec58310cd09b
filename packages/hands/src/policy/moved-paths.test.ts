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

test("a command right behind a redirection, or inside of one, is found", () => {
  for (const [line, moved] of [
    ["echo x>f;rm -rf d", ["d"]],
    ["echo x >f&&mv d e", ["d"]],
    ["true 2>/dev/null|rm d", ["d"]],
    ["cat <(rm -rf d)", ["d"]],
    ["echo >&2\nrm d", ["d"]],
    ["echo >>log&rmdir d", ["d"]],
    ["cat <in>out;rm d", ["d"]],
    ["echo `rm d`>f", ["d"]],
    ["rm d>f 2>&1", ["d"]],
    ["rm >f d", ["d"]],
    ["rm d 2> f", ["d"]],
    ["cat > rm d", []],
  ] as const)
    assert.deepEqual(findMovedInLine(line), moved, JSON.stringify(line));
});

test("a line of any characters is read in time that grows with its length", () => {
  for (const part of ["1", "<", ">&", " ", "1 ", "rm ", "a;", "'", "`", "(", "\n"]) {
    const line = part.repeat(400_000 / part.length);
    assert.ok(findMovedInLine(line).length <= line.length, JSON.stringify(part));
  }
});
