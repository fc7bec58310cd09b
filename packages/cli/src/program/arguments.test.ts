import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import type { Command } from "commander";
import { CommanderError } from "commander";
import { commandRows } from "./command-tree.ts";
import type { CommandRow } from "./command-tree.ts";
import { buildProgram } from "./program.ts";

/** What a command was called with: its arguments and its flags. */
interface Call {
  readonly path: string;
  readonly given: readonly unknown[];
  readonly flags: { readonly [name: string]: unknown };
}

/** Parses a command line as `vidro` does, and gives the call in place of making it. */
async function parse(...argv: readonly string[]): Promise<Call> {
  let call: Call | undefined;
  const root = buildProgram("1.2.3", () => undefined);
  const replace = (command: Command, path: string): void => {
    for (const one of command.commands) replace(one, `${path} ${one.name()}`.trim());
    if (command.commands.length > 0) return;
    command.action((...words: unknown[]) => {
      const [flags, given] = [words.at(-2) as Call["flags"], words.slice(0, -2)];
      call = { path, given, flags };
    });
  };
  replace(root, "");
  await root.parseAsync([...argv], { from: "user" });
  assert.ok(call !== undefined, `no command for ${argv.join(" ")}`);
  return call;
}

/** The code with which commander refuses a command line, and its sentence. */
async function refusal(...argv: readonly string[]): Promise<CommanderError> {
  const thrown = await parse(...argv).then(
    (call) => assert.fail(`taken: ${JSON.stringify(call)}`),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof CommanderError, String(thrown));
  return thrown;
}

/** What is written to stdout until the test ends; what the test runner itself writes there is bytes, and goes its way. */
function takeOutput(t: TestContext): string[] {
  const written: string[] = [];
  const write = process.stdout.write.bind(process.stdout);
  t.mock.method(process.stdout, "write", (text: string | Uint8Array) =>
    typeof text === "string" ? written.push(text) > 0 : write(text),
  );
  return written;
}

const ROWS = commandRows(buildProgram("0", () => undefined));
const LEAVES = ROWS.filter(({ below, path }) => below.length === 0 && path !== "");
const GROUPS = ROWS.filter(({ below, path }) => below.length > 0 && path !== "");

/** Values that the arguments and required flags of a command take. */
function filled({ path, options, arguments: words }: CommandRow): readonly string[] {
  const needed = words
    .filter(({ name }) => name.startsWith("<"))
    .map(({ name }) => (name === "<shell>" ? "bash" : "x"));
  const required = options
    .filter(({ long }) => REQUIRED[path]?.includes(long) === true)
    .flatMap(({ long }) => [long, long === "--older-than" ? "5" : "x"]);
  return [...path.split(" "), ...required, ...needed];
}

/** The flags without which a command is refused. */
const REQUIRED: { readonly [path: string]: readonly string[] } = Object.fromEntries(
  LEAVES.map(({ path }) => {
    const command = path.split(" ").reduce(
      (at, word) => at.commands.find((one) => one.name() === word)!,
      buildProgram("0", () => undefined),
    );
    return [path, command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long ?? "")];
  }),
);

/** A value that a flag takes. */
const VALUES: { readonly [kind: string]: string } = {
  n: "7",
  seq: "7",
  days: "7",
  seconds: "7",
  tokens: "7",
  MiB: "7",
  dollars: "0.5",
};
const valueOf = ({ flags, choices }: CommandRow["options"][number]): string =>
  choices[0] ?? VALUES[/<([^>]+)>/.exec(flags)?.[1] ?? ""] ?? "words";

describe("every command", () => {
  test("is called with what it needs, and refuses each thing less", async () => {
    for (const row of LEAVES) {
      const words = filled(row);
      assert.equal((await parse(...words)).path, row.path);
      const depth = row.path.split(" ").length;
      if (words.length === depth) continue;
      const { code } = await refusal(...words.slice(0, depth));
      assert.match(code, /^commander\.(?:missingArgument|missingMandatoryOptionValue)$/, row.path);
    }
  });

  test("refuses a flag that it does not have, by its name", async () => {
    for (const row of LEAVES) {
      for (const flag of ["--zzzzzzzz", "--zzzzzzzz=1", "-Z"]) {
        const { code, message } = await refusal(...filled(row), flag);
        assert.equal(code, "commander.unknownOption", row.path);
        assert.ok(message.includes(`'${flag}'`), message);
      }
    }
  });

  test("offers the flag that is meant where one with two letters swapped is written", async () => {
    for (const row of LEAVES)
      for (const { long } of row.options) {
        const typo = long.replace(/^--(.)(.)/, "--$2$1");
        if (typo === long || long.length < 6 || row.options.some((one) => one.long === typo)) continue;
        const { message } = await refusal(...filled(row), typo);
        assert.ok(message.includes(long), `${row.path} ${typo}: ${message}`);
      }
  });

  test("takes the value of a flag behind a blank and behind a sign of equality alike", async () => {
    for (const row of LEAVES)
      for (const option of row.options.filter(({ takesValue }) => takesValue)) {
        const value = valueOf(option);
        const rest = filled(row).filter((word, at, all) => word !== option.long && all[at - 1] !== option.long);
        const spaced = await parse(...rest, option.long, value).catch((thrown: unknown) => thrown);
        const joined = await parse(...rest, `${option.long}=${value}`).catch((thrown: unknown) => thrown);
        assert.deepEqual(spaced, joined, `${row.path} ${option.flags}`);
        assert.ok(!(spaced instanceof Error), `${row.path} ${option.flags}: ${String(spaced)}`);
      }
  });

  test("refuses a flag whose value is missing at the end of the line", async () => {
    for (const row of LEAVES)
      for (const { long } of row.options.filter(({ takesValue }) => takesValue)) {
        const { code, message } = await refusal(...filled(row), long);
        assert.equal(code, "commander.optionMissingArgument", `${row.path} ${long}`);
        assert.ok(message.includes(long), message);
      }
  });

  test("refuses a value for a flag that takes none", async () => {
    for (const row of LEAVES)
      for (const { long } of row.options.filter(({ takesValue }) => !takesValue)) {
        const { code } = await refusal(...filled(row), `${long}=true`);
        assert.equal(code, "commander.unknownOption", `${row.path} ${long}`);
      }
  });

  test("takes a flag that is said twice as said once, and of two values the last", async () => {
    for (const row of LEAVES)
      for (const option of row.options.filter(({ long }) => long !== "--version")) {
        const words = filled(row).filter((word, at, all) => word !== option.long && all[at - 1] !== option.long);
        const once = option.takesValue ? [option.long, valueOf(option)] : [option.long];
        const first =
          option.takesValue && option.choices.length === 0 && valueOf(option) === "words" ? ["other"] : once.slice(1);
        assert.deepEqual(
          await parse(...words, option.long, ...first, ...once),
          await parse(...words, ...once),
          `${row.path} ${option.flags}`,
        );
      }
  });

  test("refuses a value that is none of those it lists", async () => {
    for (const row of LEAVES)
      for (const { long, choices } of row.options.filter((option) => option.choices.length > 0)) {
        const { code, message } = await refusal(...filled(row), long, "zzz");
        assert.equal(code, "commander.invalidArgument", row.path);
        for (const choice of choices) assert.ok(message.includes(choice), message);
      }
  });

  test("refuses more words than it has arguments", async () => {
    for (const row of LEAVES.filter(({ usage }) => !usage.includes("..."))) {
      const { code } = await refusal(...filled(row), "one", "two", "three");
      assert.equal(code, "commander.excessArguments", row.path);
    }
  });

  test("tells what it does when it is asked for help, and that is no failure", async (t) => {
    const written = takeOutput(t);
    for (const row of ROWS) {
      written.length = 0;
      const words = row.path === "" ? [] : row.path.split(" ");
      const { exitCode } = await refusal(...words, "--help");
      assert.equal(exitCode, 0);
      const shown = written.join("").replaceAll(/\s+/g, " ");
      assert.ok(shown.startsWith(`Usage: ${["vidro", ...words].join(" ")} `), shown);
      for (const { flags } of row.options) assert.ok(shown.includes(flags), `${row.path}: ${flags}`);
      for (const { name } of row.below) assert.ok(shown.includes(` ${name}`), `${row.path}: ${name}`);
    }
  });
});

describe("a group of commands", () => {
  test("alone is help, and a word that is none of its commands is refused with the near one", async () => {
    for (const { path, below } of GROUPS) {
      assert.equal((await refusal(...path.split(" "))).code, "commander.help", path);
      for (const { name } of below.filter((one) => one.name.length > 4)) {
        const typo = `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`;
        if (below.some((one) => one.name === typo)) continue;
        const { code, message } = await refusal(...path.split(" "), typo);
        assert.equal(code, "commander.unknownCommand", `${path} ${typo}`);
        assert.match(message, new RegExp(`Did you mean (?:one of )?.*${name}`), message);
      }
    }
  });

  test("takes its commands in small letters only", async () => {
    for (const { path, below } of GROUPS) {
      const { code } = await refusal(...path.split(" "), below[0]!.name.toUpperCase());
      assert.equal(code, "commander.unknownCommand");
    }
  });
});

describe("words behind --", () => {
  test("are arguments, whatever they look like", async () => {
    assert.deepEqual(await parse("run", "--quiet", "--", "--json", "-v", "--", "x"), {
      path: "run",
      given: [["--json", "-v", "--", "x"]],
      flags: { quiet: true },
    });
    const { given, flags } = await parse("hands", "exec", "web", "--json", "--", "ls", "--json", "-la");
    assert.deepEqual([given, flags["json"]], [["web", ["ls", "--json", "-la"]], true]);
    assert.deepEqual((await parse("policy", "add", "allow", "--", "rm", "-rf", "--", "x")).given, [
      ["allow", "rm", "-rf", "--", "x"],
    ]);
  });

  test("are none where none follow", async () => {
    assert.equal((await refusal("run", "--")).code, "commander.missingArgument");
    assert.equal((await refusal("policy", "explain", "--")).code, "commander.missingArgument");
    assert.deepEqual((await parse("code", "--")).given, [[]]);
  });
});

describe("the words of a task", () => {
  test("are kept one by one as the shell gave them: blanks, line breaks, signs and empty ones", async () => {
    for (const words of [[""], [" "], ["a\nb"], ["a  b", "", "c"], ["-"], ["😀", "e\u0301"], ["$HOME", "`x`", "'"]])
      assert.deepEqual((await parse("run", ...words)).given, [words]);
  });

  test("may stand before, behind and between flags", async () => {
    const expected = { given: [["a", "b"]], flags: { json: true, agent: "bunny" } };
    for (const argv of [
      ["a", "b", "--json", "--agent", "bunny"],
      ["--json", "a", "--agent=bunny", "b"],
      ["--agent", "bunny", "--json", "a", "b"],
    ]) {
      const { given, flags } = await parse("run", ...argv);
      assert.deepEqual({ given, flags }, expected, argv.join(" "));
    }
  });
});

describe("flags of lists", () => {
  test("are split at commas, without the blanks around their words", async () => {
    for (const [given, words] of [
      ["a", ["a"]],
      ["a,b", ["a", "b"]],
      [" a , b ", ["a", "b"]],
      ["tag:web,db-1", ["tag:web", "db-1"]],
    ] as const)
      assert.deepEqual((await parse("agents", "create", "--name", "x", "--tools", given)).flags["tools"], words);
  });

  test("that exclude each other are refused together, in either order", async () => {
    for (const argv of [
      ["tokens", "create", "--role", "admin", "--scopes", "run"],
      ["tokens", "create", "--scopes", "run", "--role", "admin"],
      ["agents", "create", "--name", "x", "--prompt", "a", "--prompt-file", "b"],
      ["agents", "create", "--name", "x", "--prompt-file", "b", "--prompt", "a"],
    ])
      assert.equal((await refusal(...argv)).code, "commander.conflictingOption", argv.join(" "));
    // The role that is there without being said excludes nothing.
    assert.deepEqual((await parse("tokens", "create", "--scopes", "run")).flags["scopes"], ["run"]);
  });
});

test("numbers of flags are refused with what they have to be, and short flags may stand together", async () => {
  for (const [argv, says] of [
    [["up", "--port", "70000"], /A port is at most 65535/],
    [["up", "--port="], /whole number from 0 up/],
    [["run", "x", "--max-steps", "0"], /whole number from 1 up/],
    [["run", "x", "--max-cost=free"], /amount above 0/],
    [["logs", "-n", "-5"], /whole number from 0 up/],
    [["runs", "prune", "--older-than", "1.5"], /whole number from 1 up/],
  ] as const)
    assert.match((await refusal(...argv)).message, says, argv.join(" "));
  assert.deepEqual((await parse("logs", "-fn", "5")).flags, { follow: true, lines: 5 });
  assert.deepEqual((await parse("logs", "-n5")).flags, { lines: 5 });
  assert.deepEqual((await parse("logs")).flags, { lines: 50 });
});

test("the version is printed by both of its flags and by nothing else", async (t) => {
  const written = takeOutput(t);
  // The program codegen is vidro code.
  for (const flag of ["-v", "--version"])
    for (const argv of [[flag], ["code", flag]]) assert.equal((await refusal(...argv)).code, "commander.version");
  assert.deepEqual(
    written,
    Array.from({ length: 4 }, () => "1.2.3\n"),
  );
  for (const argv of [
    ["-V"],
    ["run", "-v", "x"],
    ["run", "grep", "-v", "x"],
    ["hands", "exec", "web", "ls", "--version"],
  ])
    assert.equal((await refusal(...argv)).code, "commander.unknownOption", argv.join(" "));
  assert.deepEqual((await parse("hands", "exec", "web", "--", "grep", "-v", "x")).given, ["web", ["grep", "-v", "x"]]);
});
