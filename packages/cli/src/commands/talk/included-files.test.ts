import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { TERMINAL_LIMITS } from "@vidro/core";
import { pdfOf } from "../../../../core/src/pdf/pdf.fixture.ts";
import { completeFile, includeFiles } from "./included-files.ts";
import { talkWords } from "./talk-words.ts";

/* The folder of these tests is that of the whole process. */

const began = process.cwd();
const folder = realpathSync(mkdtempSync(join(tmpdir(), "vidro-included-")));
const words = talkWords("en");

before(() => {
  process.env["VIDRO_HOME"] = join(folder, "home");
  const workspace = join(folder, "work");
  mkdirSync(join(workspace, "sub"), { recursive: true });
  process.chdir(workspace);
  writeFileSync("a.txt", "alpha\n");
  writeFileSync("two words.txt", "both\n");
  writeFileSync("sub/deep.md", "# deep\n");
  writeFileSync("binary", Buffer.of(0, 1, 2));
  writeFileSync("latin", Buffer.from("ol\u00e1", "latin1"));
  writeFileSync("large", "x".repeat(TERMINAL_LIMITS.includedBytes + 1));
  writeFileSync(".env", "SECRET=1\n");
  symlinkSync("/etc/shadow", "link");
  execFileSync("mkfifo", ["fifo"]);
});

after(() => {
  process.chdir(began);
  rmSync(folder, { recursive: true, force: true });
});

/** A task with the files that it names. */
const include = (task: string) => includeFiles(task, words);

describe("files that a task names", () => {
  it("are put behind it, each once, with a note", async () => {
    const { task, notes } = await include("compare @a.txt and @sub/deep.md with @a.txt");
    assert.equal(
      task,
      "compare @a.txt and @sub/deep.md with @a.txt\n\n--- a.txt ---\nalpha\n\n\n--- sub/deep.md ---\n# deep\n",
    );
    assert.equal(notes.length, 2);
  });

  it("are put there as their text and as files when they are PDFs, and one without text has a note that says why", async () => {
    const pdf = pdfOf("of page one", "of page two");
    writeFileSync("a.pdf", pdf);
    writeFileSync("bad.pdf", "%PDF-1.7 rubbish");
    const { task, notes, files } = await include("sum up @a.pdf and @bad.pdf");
    const text = "--- a.pdf ---\n[page 1]\nof page one\n\n[page 2]\nof page two\n--- end of a.pdf ---";
    assert.equal(task, `sum up @a.pdf and @bad.pdf\n\n${text}`);
    assert.match(notes.join("\n"), /bad\.pdf.*it has no page that can be found/);
    assert.deepEqual(files, [{ mediaType: "application/pdf", data: pdf.toString("base64"), name: "a.pdf" }]);
    for (const name of ["a.pdf", "bad.pdf"]) rmSync(name);
  });

  it("may have a blank in their name, and a mark of the sentence behind it", async () => {
    const { task } = await include("read @two\\ words.txt, then @a.txt.");
    assert.match(task, /--- two words\.txt ---\nboth/);
    assert.match(task, /--- a\.txt ---\nalpha/);
  });

  it("are only words where there is no such file, or the @ is inside of a word", async () => {
    for (const text of ["ask @ada about it", "write to me@a.txt", "@", "nothing"])
      assert.deepEqual(await include(text).then(({ task, notes }) => [task, notes]), [text, []]);
  });

  it("that are no text or too large are left out, with the reason", async () => {
    for (const name of ["binary", "latin", "large", "sub"]) {
      const { task, notes } = await include(`read @${name}`);
      assert.equal(task, `read @${name}`);
      assert.equal(notes.length, 1, name);
    }
  });

  it("that would keep a reader waiting for ever are left out at once", async () => {
    const { task, notes } = await include("read @fifo and @a.txt");
    assert.equal(notes.length, 2);
    assert.match(task, /--- a\.txt ---/);
    assert.doesNotMatch(task, /--- fifo ---/);
  });

  it("are read under the policy of the host: secrets and links to them stay out", async () => {
    for (const name of [".env", "link", "/etc/shadow"]) {
      const { task, notes } = await include(`read @${name}`);
      assert.equal(task, `read @${name}`, name);
      assert.equal(notes.length, 1, name);
      assert.doesNotMatch(notes.join(), /SECRET|root:/);
    }
  });

  it("are bounded in number", async () => {
    const names = Array.from({ length: TERMINAL_LIMITS.includedFiles + 2 }, (_, index) => `n${index}.txt`);
    for (const name of names) writeFileSync(name, name);
    const { task, notes } = await include(names.map((name) => `@${name}`).join(" "));
    assert.equal(task.split("---").length - 1, 2 * TERMINAL_LIMITS.includedFiles);
    assert.equal(notes.length, names.length);
  });
});

describe("completion of a file's name", () => {
  it("gives the names behind the @, folders with a slash, blanks escaped", async () => {
    assert.deepEqual((await completeFile("read @tw"))?.words, ["two\\ words.txt"]);
    assert.deepEqual((await completeFile("read @sub"))?.words, ["sub/"]);
    assert.deepEqual((await completeFile("@sub/"))?.words, ["sub/deep.md"]);
    assert.equal((await completeFile("read @tw"))?.from, "read @".length);
  });

  it("hides names with a dot until one is begun, and is silent where no name is", async () => {
    assert.equal((await completeFile("@"))?.words.includes(".env"), false);
    assert.deepEqual((await completeFile("@.e"))?.words, [".env"]);
    assert.equal(await completeFile("no name"), undefined);
    assert.equal(await completeFile("me@a"), undefined);
    assert.deepEqual((await completeFile("@nowhere/x"))?.words, []);
  });
});

describe("the name of a file that is completed", () => {
  const completed = async (typed: string): Promise<readonly string[] | undefined> => (await completeFile(typed))?.words;

  it("may be an absolute path, from the root on", async () => {
    const work = join(folder, "work");
    assert.deepEqual(await completed(`@${work}/a`), [`${work}/a.txt`]);
    assert.deepEqual(await completed(`@${work}/sub/`), [`${work}/sub/deep.md`]);
    assert.deepEqual(await completed("@/et"), ["/etc/"]);
  });

  it("may lead out of the folder and back, and keeps what was typed", async () => {
    assert.deepEqual(await completed("@../work/a"), ["../work/a.txt"]);
    assert.deepEqual(await completed("@./sub/d"), ["./sub/deep.md"]);
    assert.deepEqual(await completed("@sub/../a"), ["sub/../a.txt"]);
  });

  it("is none in a folder that is not there, and in a file", async () => {
    assert.deepEqual(await completed("@none/x"), []);
    assert.deepEqual(await completed("@a.txt/x"), []);
    assert.equal(await completed("mail@a"), undefined, "it is no word that begins with @");
  });
});
