import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { OFFLINE_LIMITS } from "@vidro/core";
import * as fc from "fast-check";
import { commandLineIn, readCommand } from "./command-line.ts";
import { understand } from "./understand.ts";
import { INTENTS } from "./want.ts";

const wantsOf = (task: string) => understand(task).wants;

describe("understanding", () => {
  it("has a file of phrases for each intent, and one for what is none of them", () => {
    const files = readdirSync(`${import.meta.dirname}/phrases`).map((name) => name.replace(/\.txt$/, ""));
    assert.deepEqual(files.sort(), [...INTENTS, "none"].sort());
  });

  it("needs a word that speaks for it: neither letters of an unknown one nor the kind of an operand do", () => {
    for (const task of ["canta algo", "encrypt secrets.txt", "cifra secretos.txt"]) assert.deepEqual(wantsOf(task), []);
  });

  it("is the same in capitals, without accents and without punctuation", () => {
    assert.deepEqual(wantsOf("QUANTO ESPACO LIVRE EM DISCO"), [{ kind: "disk" }]);
    assert.deepEqual(wantsOf("cuanta memoria queda"), [{ kind: "memory" }]);
    assert.equal(understand("cuanta memoria queda").language, "es");
  });

  it("reads numbers, ordinals, spans of time and sizes", () => {
    assert.deepEqual(wantsOf("top 5 processes by memory"), [{ kind: "top-memory", count: 5 }]);
    assert.deepEqual(wantsOf("os três maiores arquivos em src/"), [{ kind: "largest", path: "src/", count: 3 }]);
    assert.deepEqual(wantsOf("third line of notes.txt"), [{ kind: "read", path: "notes.txt", line: 3 }]);
    assert.deepEqual(wantsOf("últimas 7 líneas de app.log"), [{ kind: "read", path: "app.log", last: 7 }]);
    assert.deepEqual(wantsOf("files modified in the last 3 hours"), [{ kind: "find", minutes: 180 }]);
    assert.deepEqual(wantsOf("what changed during the past hour"), [{ kind: "find", minutes: 60 }]);
    assert.deepEqual(wantsOf("arquivos maiores que 10 MB"), [{ kind: "find", mebibytes: 10 }]);
    assert.deepEqual(wantsOf("who is listening on port 22?"), [{ kind: "ports", number: 22 }]);
  });

  it("reads several requests in one sentence, and several names of one request", () => {
    assert.deepEqual(
      wantsOf("quanta memória livre e que horas são?").map(({ kind }) => kind),
      ["memory", "time"],
    );
    assert.deepEqual(wantsOf("is nginx or redis running?"), [
      { kind: "running", name: "nginx" },
      { kind: "running", name: "redis" },
    ]);
    assert.deepEqual(wantsOf('show the disk usage, then run "uptime"'), [
      { kind: "disk" },
      { kind: "run", command: "uptime" },
    ]);
  });

  it("takes .env for a file, léeme for an order beside another file, and zombie for no program", () => {
    for (const task of ["cat .env", "show me .env", "lee el archivo .env"])
      assert.deepEqual(wantsOf(task), [{ kind: "read", path: ".env" }], task);
    assert.deepEqual(wantsOf("léeme config.json"), [{ kind: "read", path: "config.json" }]);
    assert.deepEqual(wantsOf("abre el léeme"), [{ kind: "read", path: "readme" }]);
    assert.deepEqual(wantsOf("got any zombie processes hanging around"), []);
    assert.deepEqual(wantsOf("switch back to main"), [{ kind: "switch-branch", name: "main" }]);
    assert.deepEqual(wantsOf("ps aux"), [{ kind: "run", command: "ps aux" }]);
  });

  it("forgives a slip of the finger", () => {
    assert.deepEqual(wantsOf("how mcuh dsik spcae is free"), wantsOf("how much disk space is free"));
    assert.deepEqual(wantsOf("quanta memroia livre"), [{ kind: "memory" }]);
  });

  it("takes what changes something for an order when it is one clear command", () => {
    assert.deepEqual(wantsOf("rename a.txt to b.txt"), [{ kind: "rename", path: "a.txt", to: "b.txt" }]);
    assert.deepEqual(wantsOf("crea una carpeta llamada informes"), [{ kind: "make-folder", path: "informes" }]);
    assert.deepEqual(wantsOf("mate o processo 4711"), [{ kind: "kill", number: 4711 }]);
    for (const task of ["rename a.txt", "delete everything", "delete the largest files", "delete /", "commit my work"])
      assert.deepEqual(
        wantsOf(task).filter(({ kind }) => kind === "rename" || kind === "delete" || kind === "commit"),
        [],
        task,
      );
  });

  it("refuses a request about something else, with the nearest three things", () => {
    for (const task of [
      "what time is it in Tokyo?",
      "is port 80 open on example.org?",
      "write a poem about disks",
      "quem ganhou a copa?",
    ]) {
      const { wants, nearest } = understand(task);
      assert.deepEqual(wants, [], task);
      assert.equal(nearest.length, 3);
    }
  });

  it("takes a question that leans on the one before it", () => {
    const follow = (first: string, second: string) => understand(second, understand(first)).wants;
    assert.deepEqual(follow("how much disk is free?", "and memory?"), [{ kind: "memory" }]);
    assert.deepEqual(follow("which processes use most cpu?", "and by memory?"), [{ kind: "top-memory" }]);
    assert.deepEqual(follow("largest files here", "and in /var?"), [{ kind: "largest", path: "/var" }]);
    assert.deepEqual(follow("what is using port 80?", "and 443?"), [{ kind: "ports", number: 443 }]);
    assert.deepEqual(follow("quanta memória está livre?", "e agora?"), [{ kind: "memory" }]);
    assert.deepEqual(follow("¿cuánta memoria queda?", "otra vez"), [{ kind: "memory" }]);
    assert.deepEqual(follow("quanta memória livre?", "e o disco?"), [{ kind: "disk" }]);
  });

  it("takes a complete request for itself, whatever came before it", () => {
    const before = understand("how much disk is free?");
    assert.deepEqual(understand('run "uname -a"', before).wants, [{ kind: "run", command: "uname -a" }]);
    assert.deepEqual(understand("uname -a", before).wants, [{ kind: "run", command: "uname -a" }]);
    assert.deepEqual(understand("read /etc/hosts", before).wants, [{ kind: "read", path: "/etc/hosts" }]);
  });

  it("answers a follow-up that tells no language in the language of the conversation", () => {
    const before = understand("quanto espaço livre em disco?");
    assert.equal(understand("cpu?", before).language, "pt");
    assert.equal(understand("df -h", before).language, "pt");
    assert.equal(understand("df -h").language, "en");
  });

  it("repeats no command because of a word such as again", () => {
    assert.deepEqual(understand("again", understand('run "rm x"')).wants, []);
  });

  it("takes the first few of too many questions and says how many it left out", () => {
    const { wants, leftOut } = understand("disk usage, memory usage, load average, uptime, network interfaces");
    assert.equal(wants.length, OFFLINE_LIMITS.wants);
    assert.equal(leftOut, 2);
    const commands = Array.from({ length: 23 }, (_, index) => `"echo ${index}"`).join(" and ");
    assert.equal(understand(`run ${commands}`).wants.length, OFFLINE_LIMITS.commands);
    assert.equal(understand(`run ${commands}`).leftOut, 3);
  });

  it("does nothing with a task that is too long to be read whole", () => {
    assert.deepEqual(wantsOf(`run "echo a" ${" ".repeat(OFFLINE_LIMITS.taskChars)}`), []);
    assert.deepEqual(wantsOf(`how much disk is free ${"please ".repeat(OFFLINE_LIMITS.taskWords)}`), []);
  });

  it("never throws, whatever it is given", () => {
    const word = fc.constantFrom(
      "disk",
      "§0",
      "run",
      '"',
      "'",
      "`",
      "find",
      "*.md",
      "port",
      "in",
      "src/",
      "e",
      "¿",
      "\\",
      "\n",
    );
    const task = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.array(word, { maxLength: 30 }).map((words) => words.join(" ")),
    );
    fc.assert(fc.property(task, task, (first, second) => void understand(second, understand(first))));
  });

  it("reads a long hostile task in little time", () => {
    const started = process.cpuUsage();
    for (const piece of ["in ", "'", '"a ', "/a", "search for the ", "§1 ", "process named ", "zz", "a.b"])
      understand(piece.repeat(OFFLINE_LIMITS.taskChars / piece.length));
    assert.ok(process.cpuUsage(started).user < 2_000_000, "microseconds at work");
  });
});

describe("a bare command line", () => {
  for (const line of [
    "df -h",
    "git log",
    "ls",
    "ls -la src",
    "docker ps",
    "ps aux | head -3",
    "npm test",
    "git log --oneline -3",
  ]) {
    it(`is run as one: ${line}`, () => {
      assert.equal(commandLineIn(line), line);
    });
  }
  for (const task of [
    "find the largest files",
    "who is logged in",
    "date of the last commit",
    "make a folder reports",
    "git status?",
    "kill process 12",
    "which files changed",
    "sort files by size",
    "top 5 processes",
    "ping example.org please",
    "python version",
  ]) {
    it(`is no sentence such as: ${task}`, () => {
      assert.equal(commandLineIn(task), undefined);
    });
  }

  const cases: readonly [string, ReturnType<typeof readCommand>][] = [
    ["df -h", { by: "program", program: "df", args: ["-h"] }],
    ["git commit -m 'a b'", { by: "program", program: "git", args: ["commit", "-m", "a b"] }],
    ['grep "a b" x', { by: "program", program: "grep", args: ["a b", "x"] }],
    ...[
      "ls | wc -l",
      "echo a > b",
      "a && b",
      "echo $HOME",
      "ls *.md",
      "ls ~",
      "a; b",
      "a\nb",
      "cd /",
      "X=1 env",
      "echo {a,b}",
      "a'b",
      "",
    ].map((line): [string, ReturnType<typeof readCommand>] => [line, { by: "shell", line }]),
  ];
  for (const [line, expected] of cases) {
    it(`${JSON.stringify(line)} is for ${expected.by === "shell" ? "a shell" : "a program"}`, () => {
      assert.deepEqual(readCommand(line), expected);
    });
  }
});
