import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

/** What a person does with the knowledge, with a daemon and without. */
async function useKnowledge(stage: Stage): Promise<void> {
  const added = await stage.run("kb", "add", "Portas do serviço", "Ouve na", "9042.", "--tags", "rede, api");
  assert.equal(added.code, 0, added.stderr);
  const id = added.stdout.trim();
  assert.match(id, /^kb_/);
  await stage.run("kb", "add", "Backups", "Every night at 3.", "--verified");
  const found = await stage.run("kb", "search", "PORTA", "servico");
  assert.match(found.stdout, new RegExp(`${id.slice(-8)}  \\d{4}-\\d\\d-\\d\\d  unverified  Portas do serviço`));
  assert.match(found.stdout, /Ouve na 9042\./);
  assert.doesNotMatch(found.stdout, /Backups/);
  const verified = lines((await stage.run("kb", "list", "--status", "verified", "--json")).stdout);
  assert.deepEqual(
    verified.map(({ title, trust }) => [title, trust]),
    [["Backups", "person"]],
  );
  assert.equal((await stage.run("kb", "verify", id.slice(-8))).code, 0);
  const shown = await stage.run("kb", "show", id.slice(-8));
  assert.equal(shown.stdout, "Ouve na 9042.\n");
  assert.match(shown.stderr, /verified · from a person/);
  assert.match(shown.stderr, /#rede #api/);
  assert.equal((await stage.run("kb", "remove", id)).code, 0);
  assert.equal((await stage.run("kb", "show", id)).code, 3);
  const nothing = await stage.run("kb", "search", "portas");
  assert.deepEqual([nothing.code, nothing.stdout], [0, ""]);
  assert.match(nothing.stderr, /Nothing is known about "portas"\. Add it: vidro kb add/);
  assert.equal((await stage.run("kb", "show", "x")).code, 2);
  assert.equal((await stage.run("kb", "remove", "nosuchid")).code, 3);
}

test("a person keeps, finds, checks and removes findings without a daemon", async () => {
  await using stage = await Stage.set();
  await useKnowledge(stage);
});

test("a person keeps, finds, checks and removes findings of a daemon", async () => {
  await using stage = await Stage.set();
  await using _ = await up(stage);
  await useKnowledge(stage);
});

test("documents of a configured folder are indexed and found by file and line", async () => {
  await using stage = await Stage.set();
  assert.match(
    (await stage.run("kb", "status")).stderr,
    /No folder of documents is set: vidro config explain documents/,
  );
  const handbook = join(stage.workspace, "handbook");
  mkdirSync(handbook);
  writeFileSync(join(handbook, "vault.md"), "# Vault\n\n## Discos\n\nO cofre tem quatro discos.\n");
  writeFileSync(join(stage.home, "config.json"), JSON.stringify({ documents: [handbook, `${handbook}-gone`] }));
  const indexed = await stage.run("kb", "index");
  assert.equal(indexed.code, 1, "one folder is not there");
  assert.match(indexed.stdout, /handbook {2}1 documents, 2 sections, looked at 20/);
  assert.match(indexed.stdout, /handbook-gone cannot be opened/);
  const found = await stage.run("kb", "search", "disco", "cofre");
  assert.match(found.stdout, /handbook\/vault\.md:3 {2}Discos\n/);
  const [row] = lines((await stage.run("kb", "search", "disco", "--json")).stdout);
  assert.deepEqual([row?.["line"], row?.["title"]], [3, "Discos"]);
});
