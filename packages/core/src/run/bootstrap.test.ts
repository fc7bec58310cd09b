import assert from "node:assert/strict";
import { test } from "node:test";
import { HISTORY_LINE, isLook, nextLook } from "./bootstrap.ts";
import type { Look, LookTexts } from "./bootstrap.ts";

const tools = (...names: string[]): readonly { readonly name: string }[] => names.map((name) => ({ name }));
const ALL = tools("working_directory", "read_folder", "read_file", "command", "shell");

/** The looks of a bootstrap whose listing has this text, in order, as the tools that they call. */
function looksAt(listing: string, belt = ALL): readonly string[] {
  const texts: { [look in Look]?: string } = {};
  const called: string[] = [];
  for (let next = nextLook(texts, belt); next !== undefined; next = nextLook(texts, belt)) {
    called.push(next.tool);
    texts[next.id] = next.id === "bootstrap-files" ? listing : "";
    assert.ok(called.length <= 4, "a look is made once");
  }
  return called;
}

void test("a folder with a plan and a repository is looked at in four steps", () => {
  const listing = "src/\n.git/\n.codegen/\n";
  assert.deepEqual(looksAt(listing), ["working_directory", "read_folder", "read_file", "command"]);
});

void test("a plan and a history are looked for only where the listing has their folders", () => {
  assert.deepEqual(looksAt("src\nREADME.md"), ["working_directory", "read_folder"]);
  assert.deepEqual(looksAt(""), ["working_directory", "read_folder"]);
  for (const other of [".gitignore", ".github/", "my.git", ".codegen.md", "x/.git/y", ".git.bak"])
    assert.deepEqual(looksAt(other), ["working_directory", "read_folder"], other);
});

void test("an entry is found whatever else stands on its line", () => {
  for (const listing of ['["src",".git"]', "drwxr-xr-x 8 ana .git/", "a b\t.git\r\nc", "['.git']"])
    assert.equal(looksAt(listing).at(-1), "command", listing);
});

void test("a look without a tool for it is left out, and the next is made", () => {
  const listing = ".git .codegen";
  assert.deepEqual(looksAt(listing, tools()), []);
  assert.deepEqual(looksAt(listing, tools("read_file", "command")), [], "nothing is known without a listing");
  assert.deepEqual(looksAt(listing, tools("read_folder", "shell")), ["read_folder", "shell"]);
  assert.deepEqual(looksAt(listing, tools("read_folder", "read_file")), ["read_folder", "read_file"]);
});

void test("the history is read by a program without a shell where there is one, and by the same words with one", () => {
  const texts: LookTexts = { "bootstrap-where": "", "bootstrap-files": ".git" };
  assert.deepEqual(nextLook(texts, ALL), {
    id: "bootstrap-history",
    tool: "command",
    input: { command: "git", args: ["log", "--oneline", "-10"] },
  });
  assert.deepEqual(nextLook(texts, tools("shell"))?.input, { command: HISTORY_LINE });
});

void test("a look that failed is not made again", () => {
  const texts: LookTexts = { "bootstrap-where": "", "bootstrap-files": "" };
  assert.equal(nextLook(texts, ALL), undefined);
});

void test("calls of the bootstrap are known by their ids, and those of a model are not", () => {
  assert.ok(isLook({ callId: "bootstrap-plan" }));
  for (const callId of ["", "call_1", "bootstrap", "bootstrap-plan2", "toString"])
    assert.equal(isLook({ callId }), false);
});
