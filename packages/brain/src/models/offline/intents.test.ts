import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OFFLINE_LIMITS } from "@vidro/core";
import * as fc from "fast-check";
import { NOT_UNDERSTOOD } from "./foreign.fixture.ts";
import { UNDERSTOOD } from "./intents.fixture.ts";
import { readCommand } from "./intents-run.ts";
import { understand } from "./intents.ts";
import type { Language } from "@vidro/core/text";

const LANGUAGES: readonly Language[] = ["en", "pt", "es"];

for (const language of LANGUAGES) {
  describe(`a phrase in ${language}`, () => {
    for (const [phrase, ...wants] of UNDERSTOOD[language]) {
      it(`means what it says: ${phrase}`, () => {
        assert.deepEqual(understand(phrase), { language, wants, leftOut: 0 });
      });
    }
  });
}

describe("a phrase that is none of its business", () => {
  for (const phrase of NOT_UNDERSTOOD) {
    it(`is not understood: ${phrase}`, () => {
      assert.deepEqual(understand(phrase).wants, []);
    });
  }
});

describe("understanding", () => {
  it("knows at least 150 phrases over three languages and refuses at least 20", () => {
    assert.ok(LANGUAGES.flatMap((language) => UNDERSTOOD[language]).length >= 150);
    assert.ok(NOT_UNDERSTOOD.length >= 20);
  });

  it("is the same in capitals, without accents and without punctuation", () => {
    assert.deepEqual(understand("QUANTO ESPACO LIVRE EM DISCO").wants, [{ kind: "disk" }]);
    assert.deepEqual(understand("cuanta memoria queda").wants, [{ kind: "memory" }]);
    assert.equal(understand("cuanta memoria queda").language, "es");
  });

  it("takes a question that leans on the one before it", () => {
    const follow = (first: string, second: string) => understand(second, understand(first)).wants;
    assert.deepEqual(follow("how much disk is free?", "and memory?"), [{ kind: "memory" }]);
    assert.deepEqual(follow("which processes use most cpu?", "and by memory?"), [{ kind: "processes", by: "mem" }]);
    assert.deepEqual(follow("largest files here", "and in /var?"), [{ kind: "largest", path: "/var" }]);
    assert.deepEqual(follow("what is using port 80?", "and 443?"), [{ kind: "ports", port: 443 }]);
    assert.deepEqual(follow("quanta memória está livre?", "e agora?"), [{ kind: "memory" }]);
    assert.deepEqual(follow("¿cuánta memoria queda?", "otra vez"), [{ kind: "memory" }]);
  });

  it("answers a follow-up that tells no language in the language of the conversation", () => {
    const before = understand("quanto espaço livre em disco?");
    assert.equal(understand("cpu?", before).language, "pt");
  });

  it("repeats no command because of a word such as again", () => {
    assert.deepEqual(understand("again", understand('run "rm x"')).wants, []);
  });

  it("takes the first few of too many questions and says how many it left out", () => {
    const { wants, leftOut } = understand("disk, memory, cpu, uptime, network");
    assert.equal(wants.length, OFFLINE_LIMITS.wants);
    assert.equal(leftOut, 2);
    const commands = Array.from({ length: 23 }, (_, index) => `"echo ${index}"`).join(" and ");
    assert.equal(understand(`run ${commands}`).wants.length, OFFLINE_LIMITS.commands);
    assert.equal(understand(`run ${commands}`).leftOut, 3);
  });

  it("mixes questions and commands in one task", () => {
    assert.deepEqual(understand('show the disk usage, then run "uptime"').wants, [
      { kind: "disk" },
      { kind: "run", command: "uptime" },
    ]);
  });

  it("does nothing with a task that is too long to be read whole", () => {
    assert.deepEqual(understand(`run "echo a" ${" ".repeat(OFFLINE_LIMITS.taskChars)}`).wants, []);
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
    for (const piece of ["in ", "'", '"a ', "/a", "search for the ", "§1 ", "process named "])
      understand(piece.repeat(OFFLINE_LIMITS.taskChars / piece.length));
    assert.ok(process.cpuUsage(started).user < 2_000_000, "microseconds at work");
  });
});

describe("a quoted command", () => {
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
