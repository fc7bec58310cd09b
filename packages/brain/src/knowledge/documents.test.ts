import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { ScanDocuments } from "@vidro/core";
import { calls, fakeOpenAi, text } from "../../../../tests/support/fake-openai.ts";
import { openBrain } from "../brain.ts";
import { readConfig } from "../config.ts";
import { localDocuments } from "../south/local.ts";
import { Documents } from "./documents.ts";

/** A home, a folder of documents, and the paths that were read anew at each look. */
function stage(t: TestContext) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "vidro-documents-")));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const [home, folder] = [join(place, "home"), join(place, "docs")];
  mkdirSync(home);
  mkdirSync(join(folder, "deep"), { recursive: true });
  const read: string[] = [];
  const scan: ScanDocuments = async function* (...how) {
    for await (const found of localDocuments(home)(...how)) {
      if ("path" in found && found.sections !== undefined) read.push(relative(folder, found.path));
      yield found;
    }
  };
  const open = (...folders: readonly string[]): Documents => {
    const documents = new Documents(join(home, "documents.db"), folders, scan);
    t.after(() => documents.close());
    return documents;
  };
  const write = (name: string, content: string): void => writeFileSync(join(folder, name), content);
  return { place, home, folder, read, open, write };
}

test("documents are found by path and line, and only what has changed is read again", async (t) => {
  const { folder, read, open, write } = stage(t);
  write("guide.md", "# Guide\n\nHello.\n\n## Configurações\n\nA porta é 9042.\n");
  write("deep/notes.txt", "The vault host\nkeeps backups.\n");
  write("page.html", "<html><body><h1>Redes</h1><script>evil()</script><p>Use the VPN.</p></body></html>");
  write("api.rst", "Ports\n=====\n\nOf the API.\n");
  write("code.ts", "const guide = 1;");
  const documents = open(folder);
  await documents.refresh();
  const found = async (words: string) =>
    (await documents.search(words, 5)).map(({ path, line, title }) => [path.slice(folder.length + 1), line, title]);
  assert.deepEqual(await found("configuracao porta"), [["guide.md", 5, "Configurações"]]);
  assert.deepEqual(await found("vault backup"), [["deep/notes.txt", 1, "The vault host"]]);
  assert.deepEqual(await found("rede vpn"), [["page.html", 1, "Redes"]]);
  assert.deepEqual(await found("api ports"), [["api.rst", 1, "Ports"]]);
  assert.deepEqual(await found("evil"), []);
  assert.deepEqual(read.splice(0).toSorted(), ["api.rst", "deep/notes.txt", "guide.md", "page.html"]);
  write("guide.md", "# Guide\n\nThe port is 9043 now.\n");
  unlinkSync(join(folder, "deep/notes.txt"));
  await documents.refresh();
  assert.deepEqual(read.splice(0), ["guide.md"]);
  assert.deepEqual(
    [await found("9042"), await found("vault"), await found("9043")],
    [[], [], [["guide.md", 1, "Guide"]]],
  );
  const [status] = await documents.status();
  assert.deepEqual([status?.documents, status?.fault, status?.leftOut], [3, null, []]);
});

test("links, hidden files, generated folders, own state and what is too large or no text are left out", async (t) => {
  const { place, home, folder, read, open, write } = stage(t);
  writeFileSync(join(place, "outside.md"), "# Outside");
  writeFileSync(join(home, "secret.md"), "# Secret");
  for (const name of ["node_modules", ".git", ".private"]) {
    mkdirSync(join(folder, name));
    write(`${name}/a.md`, "# Hidden");
  }
  write(".env.md", "# Hidden");
  symlinkSync("../outside.md", join(folder, "link.md"));
  symlinkSync("..", join(folder, "up"));
  write("huge.md", "x".repeat(1024 * 1024 + 1));
  write("binary.txt", "a\0b");
  write("good.md", "# Good");
  const documents = open(folder, place);
  await documents.refresh();
  assert.deepEqual([...new Set(read.map((path) => basename(path)))].toSorted(), ["good.md", "outside.md"]);
  assert.deepEqual(await documents.search("secret hidden", 5), []);
  const [first] = await documents.status();
  assert.match(first?.leftOut.join("\n") ?? "", /binary\.txt is no text\n.*huge\.md is larger/);
});

test("a folder that is not there keeps what was indexed, and says so; one that is no longer set is forgotten", async (t) => {
  const { folder, open, write } = stage(t);
  write("guide.md", "# Guide");
  const documents = open(folder);
  await documents.refresh();
  await documents.close();
  rmSync(folder, { recursive: true });
  const later = open(folder);
  await later.refresh();
  assert.equal((await later.search("guide", 5)).length, 1);
  assert.match((await later.status())[0]?.fault ?? "", /cannot be opened; see the setting documents/);
  const other = open("/nonexistent");
  await other.refresh();
  assert.deepEqual(await other.search("guide", 5), []);
});

test("000-30 research gives a model documents with path and line, behind what is kept as knowledge", async (t) => {
  const { home, folder, write } = stage(t);
  write("ports.md", "intro\n\n# Ports\n\nThe API listens on 9042.\n");
  const server = await fakeOpenAi(
    calls({ id: "call_1", name: "research", input: JSON.stringify({ queries: ["api port"] }) }),
    text("9042"),
  );
  t.after(() => server.close());
  const env = { VIDRO_MODEL: "test", VIDRO_MODEL_URL: server.url, VIDRO_DOCUMENTS: folder };
  const brain = await openBrain({ home, config: readConfig({ env }) });
  t.after(() => brain.close());
  await brain.documents.refresh();
  const kept = { owner: "local", tags: [], snippet: "", status: "verified", trust: "person", at: 1 } as const;
  await brain.knowledge.add({ ...kept, id: "kb_1", title: "API port" });
  const { run } = await brain.runs.start({ task: "which port?", workspace: folder });
  await Array.fromAsync(brain.runs.follow(run.id));
  const entries = await brain.journal.read(run.id, 0, 100);
  const finished = entries.find(({ event }) => event.type === "action.finished")?.event;
  assert.ok(finished?.type === "action.finished" && finished.outcome.kind === "value");
  assert.match(finished.outcome.text, /^\[1\] API port \(verified[\s\S]*\[2\] Ports \(\S+ports\.md, line 3\)\n# Ports/);
  assert.partialDeepStrictEqual(finished.outcome.data, {
    docs: [{ url: "vidro:knowledge/kb_1" }, { title: "Ports", meta: { path: join(folder, "ports.md"), line: 3 } }],
  });
});
