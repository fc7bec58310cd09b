import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CATALOG_LIMITS } from "@vidro/core";
import { parseAgent, readAgents, SHIPPED_AGENTS } from "./agent-files.ts";
import { BUNNY } from "./agent.ts";

const parse = (...lines: string[]): ReturnType<typeof parseAgent> => parseAgent(lines.join("\n"), "agents/doc.md");

test("a file says what an agent is in its head and how it speaks below", () => {
  const agent = parse(
    "---",
    "# comments are for people",
    "name: doc writer",
    'description: "Writes: docs."',
    "model: openai/gpt-5",
    "image: https://pictures.example/doc.png",
    "tools: [read_file, 'write_file']",
    "---",
    "",
    "You write.",
    "---",
    "Plainly.",
  );
  assert.deepEqual(agent, {
    name: "doc writer",
    description: "Writes: docs.",
    model: "openai/gpt-5",
    image: "https://pictures.example/doc.png",
    tools: ["read_file", "write_file"],
    prompt: "You write.\n---\nPlainly.",
  });
});

test("what a file does not say is left open, and its own name is the agent's", () => {
  const silent = { name: "doc", description: "", prompt: "", image: null, tools: null };
  assert.deepEqual(parse("---", "---"), silent);
  assert.deepEqual(parseAgent("\uFEFF---\r\nname:\r\n---\r\n", "agents/doc.md"), silent);
});

test("a list of tools may stand on lines of its own, on one line, or be empty", () => {
  assert.deepEqual(parse("---", "tools:", "  - shell", "  - edit", "---").tools, ["shell", "edit"]);
  assert.deepEqual(parse("---", "tools: shell, edit", "---").tools, ["shell", "edit"]);
  assert.deepEqual(parse("---", "tools: []", "---").tools, []);
});

const WRONG: readonly (readonly [what: string, lines: readonly string[], says: RegExp])[] = [
  ["has no head", ["You write."], /must begin with a head/],
  ["does not end its head", ["---", "name: doc"], /must begin with a head/],
  ["has a word that means nothing", ["---", "nam: doc", "---"], /line 2: expected one of name/],
  ["says a thing twice", ["---", "name: a", "name: b", "---"], /line 3: name is said twice/],
  ["has an item outside a list", ["---", "name: a", "- b", "---"], /line 3: an item without a list/],
  ["has a list for a name", ["---", "name: [a, b]", "---"], /name is one value/],
  ["has too long a name", ["---", `name: ${"x".repeat(CATALOG_LIMITS.nameChars + 1)}`, "---"], /a name has 1 to/],
];

for (const [what, lines, says] of WRONG) {
  test(`a file that ${what} is refused with its place`, () => {
    assert.throws(() => parse(...lines), { code: "BAD_REQUEST", message: says });
    assert.throws(() => parse(...lines), { message: /^agents\/doc\.md/ });
  });
}

test("a folder gives an agent for each of its files, and none when it is not there", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "vidro-agents-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "b.md"), "---\n---\nB");
  await writeFile(join(folder, "a.md"), "---\n---\nA");
  await writeFile(join(folder, "notes.txt"), "no agent");
  const read = await readAgents(folder);
  assert.deepEqual(
    read.map(({ name, prompt }) => [name, prompt]),
    [
      ["a", "A"],
      ["b", "B"],
    ],
  );
  assert.ok(read.every(({ createdAt, updatedAt }) => createdAt <= updatedAt && Date.now() - updatedAt < 60_000));
  assert.deepEqual(await readAgents(join(folder, "nowhere")), []);
  await writeFile(join(folder, "c.md"), `---\n---\n${"x".repeat(CATALOG_LIMITS.agentFileBytes)}`);
  await assert.rejects(readAgents(folder), { code: "BAD_REQUEST", message: /too large for an agent/ });
});

test("bunny's file says what the brain says of bunny by itself", async () => {
  const shipped = (await readAgents(SHIPPED_AGENTS)).find(({ name }) => name === BUNNY.name);
  const { name, description, prompt } = shipped!;
  assert.deepEqual({ name, description, prompt }, BUNNY);
});
