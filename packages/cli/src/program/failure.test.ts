import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { TestContext } from "node:test";
import { CommanderError } from "commander";
import { Fault, FAULTS } from "@vidro/core";
import type { FaultCode } from "@vidro/core";
import { EXIT } from "./exit-codes.ts";
import { sayFailure } from "./failure.ts";

/** What a failed command wrote, and its exit code. */
interface Failed {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: readonly string[];
}

function fail(t: TestContext, thrown: unknown, line = "run x"): Failed {
  const [out, errors]: [string[], string[]] = [[], []];
  const writes = [
    t.mock.method(process.stdout, "write", (text: string | Uint8Array) => out.push(String(text)) > 0),
    t.mock.method(process.stderr, "write", (text: string | Uint8Array) => errors.push(String(text)) > 0),
  ];
  const exit = sayFailure(thrown, line.split(" "));
  for (const { mock } of writes) mock.restore();
  return { exit, stdout: out.join(""), stderr: errors.join("").trimEnd().split("\n") };
}

let home = "";
const before = process.env["VIDRO_HOME"];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "vidro-failure-"));
  process.env["VIDRO_HOME"] = home;
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
  if (before === undefined) delete process.env["VIDRO_HOME"];
  else process.env["VIDRO_HOME"] = before;
});

describe("a command that fails", () => {
  test("ends with the exit code of its fault: refused 5, unknown 9, failed 1, and so on", (t) => {
    for (const [code, exit] of [
      ["BAD_REQUEST", 2],
      ["NOT_FOUND", 3],
      ["INVALID_TOKEN", 4],
      ["POLICY_DENIED", 5],
      ["CONFLICT", 6],
      ["BRAIN_UNREACHABLE", 7],
      ["OUTCOME_UNKNOWN", 9],
      ["INTERNAL_ERROR", 1],
    ] as const)
      assert.equal(fail(t, new Fault(code, "Because.")).exit, exit, code);
  });

  test("says of every fault what happened, why, and one next step, on stderr alone", (t) => {
    for (const code of Object.keys(FAULTS) as FaultCode[]) {
      const { stdout, stderr, exit } = fail(t, new Fault(code, "Because of this."));
      assert.equal(stdout, "");
      assert.equal(exit, FAULTS[code].exit);
      assert.ok(stderr[0]?.startsWith("vidro: ") === true, code);
      assert.ok(stderr.join("\n").includes("Because of this."), code);
      assert.equal(stderr.filter((line) => line.startsWith("  next: ")).length, 1, code);
      assert.match(stderr.at(-1) ?? "", /^ {2}next: \S/);
    }
  });

  test("gives programs one line of JSON on stdout, with the same step, when --json stands before any --", (t) => {
    const { stdout, stderr, exit } = fail(t, new Fault("NOT_FOUND", "No run ends with nope."), "runs show nope --json");
    assert.deepEqual(JSON.parse(stdout), {
      type: "error",
      code: "NOT_FOUND",
      message: "No run ends with nope.",
      next: "Look it up: vidro runs list",
    });
    assert.equal(stdout.indexOf("\n"), stdout.length - 1);
    assert.equal(stderr.at(-1), "  next: Look it up: vidro runs list");
    assert.equal(exit, 3);
    assert.equal(fail(t, new Fault("NOT_FOUND", "No."), "hands exec web -- x --json").stdout, "");
  });

  test("shows no control sequence of the message, and its lines cannot look like those of the command", (t) => {
    const hostile = "bad\u001b[2J\u001b]0;title\u0007\nvidro: all is well\n  next: rm -rf /\u202e\u0000";
    const { stderr, stdout } = fail(t, new Fault("CONFLICT", hostile), "run x --json");
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch(stderr.join(""), /[\u0000-\u001f\u202e]/);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch(stdout.trimEnd(), /[\u0000-\u001f\u202e]/);
    assert.equal((JSON.parse(stdout) as { message: string }).message, hostile);
    assert.equal(stderr.filter((line) => line.startsWith("vidro:")).length, 1);
    assert.deepEqual(
      stderr.filter((line) => line.startsWith("  next:")),
      [`  next: ${FAULTS.CONFLICT.next}`],
    );
  });

  test("says a message that is the headline once", (t) => {
    const { stderr } = fail(t, new Fault("BAD_REQUEST", "That is no address of a brain."));
    assert.equal(stderr[0], "vidro: That is no address of a brain.");
    assert.equal(stderr.length, 2);
  });
});

describe("the next step", () => {
  test("is the command that the message ends with, else what fits the command line, else that of the code", (t) => {
    for (const [line, fault, next] of [
      ["run x", new Fault("CONFLICT", "It is taken. Free it: vidro stop --now"), "vidro stop --now"],
      ["run x", new Fault("CONFLICT", "It is taken. Free it: vidro stop."), "vidro stop"],
      ["run x", new Fault("CONFLICT", "See vidro stop."), FAULTS.CONFLICT.next],
      ["runs show x", new Fault("NOT_FOUND", "No."), "Look it up: vidro runs list"],
      ["schedules remove x", new Fault("NOT_FOUND", "No."), "Look it up: vidro schedules list"],
      ["run --on x y", new Fault("NOT_FOUND", "No."), "Look it up: vidro hands list"],
      ["run --on=x y", new Fault("NOT_FOUND", "No."), "Look it up: vidro hands list"],
      ["run --agent x y", new Fault("NOT_FOUND", "No."), "Look it up: vidro agents list"],
      ["run --once y", new Fault("NOT_FOUND", "No."), FAULTS.NOT_FOUND.next],
      ["agents delete bunny", new Fault("CONFLICT", "No."), "Look it up: vidro agents list"],
      ["policy show x", new Fault("NOT_FOUND", "No."), "See the rules in force: vidro policy show"],
      ["policy add x", new Fault("BAD_POLICY", "No."), "See the rules in force: vidro policy show"],
      ["policy check x", new Fault("BAD_POLICY", "No."), FAULTS.BAD_POLICY.next],
      [
        "tcp h:1 PS",
        new Fault("HAND_UNAVAILABLE", "No."),
        "See whether a hand listens there: vidro hands serve --tcp <address>",
      ],
      [
        "status",
        new Fault("BRAIN_UNREACHABLE", "Nothing answers at http://x: no"),
        "Check the address (--url, VIDRO_URL); on that machine: vidro up",
      ],
      ["status", new Fault("BAD_REQUEST", "/home/config.json cannot be read"), "Mend that file, or move it away."],
    ] as const)
      assert.equal(fail(t, fault, line).stderr.at(-1), `  next: ${next}`, line);
  });

  test("is not taken out of the middle of a message of several lines", (t) => {
    const { stderr } = fail(t, new Fault("CONFLICT", "Foreign: vidro tokens create --role admin\nand more words"));
    assert.equal(stderr.at(-1), `  next: ${FAULTS.CONFLICT.next}`);
  });
});

describe("an error that is no fault", () => {
  test("is INTERNAL_ERROR with a trace id, under which the log of the home has the stack", (t) => {
    const { exit, stderr } = fail(t, new TypeError("x is not a function"));
    assert.equal(exit, EXIT.failed);
    const [, traceId] = /\(trace ([\da-f-]{36})\)/.exec(stderr.join("\n")) ?? [];
    const log = join(home, "vidro.log");
    const logged = JSON.parse(readFileSync(log, "utf8")) as { [field: string]: string };
    assert.deepEqual([logged["trace_id"], logged["level"]], [traceId, "error"]);
    assert.match(logged["message"] ?? "", /TypeError: x is not a function\n {4}at /);
    assert.equal(statSync(log).mode & 0o777, 0o600);
    assert.ok(!stderr.join("\n").includes("    at "), "no stack for people");
  });

  test("may be anything that can be thrown", (t) => {
    for (const thrown of [undefined, null, 0, "words", Symbol("s"), {}, { message: 5 }, new Error("")]) {
      const { exit, stderr } = fail(t, thrown);
      assert.equal(exit, EXIT.failed);
      assert.match(stderr.join("\n"), /\(trace [\da-f-]{36}\)/);
    }
  });

  test("is told also where the log cannot be written", (t) => {
    process.env["VIDRO_HOME"] = "/proc/nope";
    assert.equal(fail(t, new Error("out of luck")).exit, EXIT.failed);
  });
});

describe("a command line that is none", () => {
  const misuse = (message: string, code = "commander.unknownCommand"): CommanderError =>
    new CommanderError(1, code, message);

  test("ends with 2, and names the help of the command as far as it is one", (t) => {
    for (const [line, help] of [
      ["run --nope x", "vidro run --help"],
      ["runs lst", "vidro runs --help"],
      ["hands exec", "vidro hands exec --help"],
      ["--nope", "vidro --help"],
      ["nope", "vidro --help"],
      ["", "vidro --help"],
    ] as const) {
      const { exit, stderr } = fail(t, misuse("error: unknown option '--nope'", "commander.unknownOption"), line);
      assert.deepEqual([exit, stderr.at(-1)], [EXIT.usage, `  next: ${help}`], line);
    }
  });

  test("shows the near word as a question behind the sentence", (t) => {
    const { stderr } = fail(t, misuse("error: unknown command 'rnu'\n(Did you mean run?)"), "rnu x");
    assert.equal(stderr[0], "vidro: unknown command 'rnu'. Did you mean run?");
  });

  test("is taken for a task whose quotes were forgotten only where its words can be quoted as they are", (t) => {
    for (const [line, next] of [
      ["how much disk is free", 'vidro "how much disk is free"'],
      ["quanto espaço há em /var?", "vidro --help"],
      ["quanto espaço há", 'vidro "quanto espaço há"'],
      ["echo $HOME now", "vidro --help"],
      ['tell "hello" now', "vidro --help"],
      ["tell `id` now", "vidro --help"],
      ["look --deep now", "vidro --help"],
      ["alone", "vidro --help"],
    ] as const)
      assert.equal(fail(t, misuse("error: unknown command"), line).stderr.at(-1), `  next: ${next}`, line);
  });

  test("is one line of JSON for programs, too", (t) => {
    const { stdout } = fail(
      t,
      misuse("error: unknown option '--x'", "commander.unknownOption"),
      "runs list --x --json",
    );
    assert.deepEqual(JSON.parse(stdout), {
      type: "error",
      code: "BAD_REQUEST",
      message: "unknown option '--x'",
      next: "vidro runs list --help",
    });
  });
});
