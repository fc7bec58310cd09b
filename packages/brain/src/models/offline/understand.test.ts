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

  it("takes another name, number or span for what was asked before, and a pronoun for what was named", () => {
    const follow = (first: string, second: string) => understand(second, understand(first)).wants;
    assert.deepEqual(follow("largest files in here", "and in src?"), [{ kind: "largest", path: "src" }]);
    assert.deepEqual(follow("quanto pesa a pasta docs", "e a src?"), [{ kind: "folder-size", path: "src" }]);
    assert.deepEqual(follow("show the last 3 commits", "make it 10"), [{ kind: "git-log", count: 10 }]);
    assert.deepEqual(follow("muestra los últimos 3 commits", "¿y los últimos 5?"), [{ kind: "git-log", count: 5 }]);
    assert.deepEqual(follow("is git installed?", "and curl?"), [{ kind: "installed", name: "curl" }]);
    assert.deepEqual(follow("o nginx está rodando?", "e o redis?"), [{ kind: "running", name: "redis" }]);
    assert.deepEqual(follow("lista os arquivos de src/", "quantos são?"), [{ kind: "count-files", path: "src/" }]);
    assert.deepEqual(follow("is express installed?", "which version?"), [{ kind: "version", name: "express" }]);
    assert.deepEqual(follow("show me notes.txt", "how long is it?"), [{ kind: "count-lines", path: "notes.txt" }]);
    assert.deepEqual(follow("muestra notes.txt", "¿cuándo se modificó?"), [{ kind: "file-info", path: "notes.txt" }]);
    assert.deepEqual(follow("read notes.txt", "how many lines does it have?"), [
      { kind: "count-lines", path: "notes.txt" },
    ]);
    assert.deepEqual(follow("lee notes.txt", "¿cuándo se modificó ese archivo?"), [
      { kind: "file-info", path: "notes.txt" },
    ]);
    assert.deepEqual(wantsOf("what's in docs/ and how big is it"), [
      { kind: "list", path: "docs/" },
      { kind: "folder-size", path: "docs/" },
    ]);
    assert.deepEqual(wantsOf("versão do python e do node"), [
      { kind: "version", name: "python" },
      { kind: "version", name: "node" },
    ]);
  });

  it("takes a complete request for itself, also behind one that names a file", () => {
    const before = understand("read notes.txt");
    assert.deepEqual(understand("what time is it?", before).wants, [{ kind: "time" }]);
    assert.deepEqual(understand("how many commits are there?", before).wants, [{ kind: "count-commits" }]);
    assert.deepEqual(understand("how many files are in this folder?", before).wants, [
      { kind: "count-files", path: "." },
    ]);
    assert.deepEqual(understand("quantas linhas de código tem esse projeto?", before).wants, [
      { kind: "count-lines", path: "." },
    ]);
  });

  it("leaves out the reason before or behind a question", () => {
    for (const [task, kind] of [
      ["before I download this 40 gig dataset, will it fit", "disk"],
      ["I am about to restore a backup. how much disk is free?", "disk"],
      ["how much memory is free, I need to start another vm", "memory"],
      ["o cliente está reclamando que tudo está lento, qual processo usa mais cpu?", "top-cpu"],
      ["el disco se está llenando, ¿qué carpeta es la más grande?", "largest-folders"],
      ["¿queda memoria para levantar otro servicio?", "memory"],
    ] as const)
      assert.deepEqual(
        wantsOf(task).map((want) => want.kind),
        [kind],
        task,
      );
  });

  it("does not take an order, a condition or another question for a reason", () => {
    for (const task of [
      "translate this into French: how much disk is free",
      "write an email to Bob, how much memory is free",
      "what is better, postgres or mysql?",
      "delete everything, which branch am I on",
      "if I deleted build, how much space would I gain",
    ])
      assert.ok(!["disk", "memory", "running", "git-branch"].includes(wantsOf(task)[0]?.kind ?? ""), task);
  });

  it("takes no word of every day for the name of a program, a host or a service", () => {
    assert.deepEqual(wantsOf("does the internet work from this box"), [{ kind: "reach" }]);
    assert.deepEqual(wantsOf("what happened in the system log just now"), [{ kind: "log-tail" }]);
    assert.deepEqual(wantsOf("is there a newer version of npm"), []);
    assert.deepEqual(wantsOf("is there an account called deploy"), [{ kind: "accounts", name: "deploy" }]);
    assert.deepEqual(wantsOf("crea una carpeta que se llame informes"), [{ kind: "make-folder", path: "informes" }]);
  });

  it("takes the next intent when the first one does not read a name of the sentence", () => {
    assert.deepEqual(wantsOf("who made commit 24725eb"), [{ kind: "git-show", revision: "24725eb" }]);
    assert.deepEqual(wantsOf("restart the computer"), []);
    assert.deepEqual(wantsOf("find files with server in the name"), [{ kind: "find", pattern: "*server*" }]);
    assert.deepEqual(wantsOf("¿qué python tenemos?"), [{ kind: "version", name: "python" }]);
  });

  it("refuses what speaks of another machine or of a topic that the intent never has", () => {
    for (const task of [
      "disk usage on the backup server",
      "uso de disco no servidor de backup",
      "who is the culprit branch",
    ])
      assert.deepEqual(wantsOf(task), [], task);
  });

  it("searches for an expression of a program, although it looks like the name of a file", () => {
    assert.deepEqual(wantsOf("where do we read process.env"), [{ kind: "search", text: "process.env" }]);
    assert.deepEqual(wantsOf("onde a gente lê process.env"), [{ kind: "search", text: "process.env" }]);
    assert.deepEqual(wantsOf("¿dónde leemos process.env?"), [{ kind: "search", text: "process.env" }]);
  });

  it("asks git for the commit that words point at", () => {
    assert.deepEqual(wantsOf("show the commit before the last one"), [{ kind: "git-show", revision: "HEAD~1" }]);
    assert.deepEqual(wantsOf("muestra el penúltimo commit"), [{ kind: "git-show", revision: "HEAD~1" }]);
    assert.deepEqual(wantsOf("qual foi o primeiro commit"), [{ kind: "git-show", revision: "first" }]);
  });

  it("tells how tests are run when it is asked how, and runs them when it is told to", () => {
    for (const task of ["how are the tests run?", "como se rodam os testes aqui", "¿cómo se ejecutan las pruebas?"])
      assert.deepEqual(wantsOf(task), [{ kind: "start", text: "tests" }], task);
    for (const task of ["run the tests and tell me whether they pass", "roda os testes", "ejecuta las pruebas"])
      assert.deepEqual(wantsOf(task), [{ kind: "tests" }], task);
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
