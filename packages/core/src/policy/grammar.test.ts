import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { grammarMisfit, valueMisfit } from "./grammar.ts";
import type { Scene } from "./path.ts";
import type { Grammar, Value } from "./rule.ts";

const scene: Scene = {
  cwd: "/srv/work",
  showsContent: false,
  policy: {
    trusted: [],
    secrets: ["{workspace}/**/.env"],
    env: {},
    rules: [],
    places: { workspace: "/srv/work", home: "/home/ada", state: "/home/ada/.vidro" },
  },
};
const why = (line: string, grammar: Grammar): string | undefined =>
  grammarMisfit(line === "" ? [] : line.split(" "), grammar, scene);

/** The options of a program like `ls` and `head`. */
const LIST: Grammar = {
  options: {
    "-l": "flag",
    "-a": "flag",
    "-n": "number",
    "-f": { paths: ["{workspace}/**"] },
    "--all": "flag",
    "--width": "number",
    "--color": { attached: { like: ["auto", "never"] } },
    "-#": "flag",
  },
  operands: [{ paths: ["{workspace}/**"] }, "text"],
};

describe("options of a command", () => {
  it("fit in every way that programs read them: apart, together, with their value attached or behind them", () => {
    for (const line of [
      "",
      "-l",
      "-la",
      "-aaal",
      "-n 3",
      "-n3",
      "-ln3",
      "-lan 3",
      "-n -3",
      "--all",
      "--width=80",
      "--width 80",
      "--width=-80",
      "--color",
      "--color=auto",
      "-20",
      "-l -20 --all",
      "-f a/b",
      "-fa",
      "-lfa",
    ])
      assert.equal(why(line, LIST), undefined, line);
  });

  it("do not fit when one is not known, also in the middle of others, and the answer names it", () => {
    for (const [line, name] of [
      ["-x", "-x"],
      ["-lx", "-x"],
      ["-xl", "-x"],
      ["--al", "--al"],
      ["--ALL", "--ALL"],
      ["-#", "-#"],
      ["-lé", "-é"],
      ["--", undefined],
    ] as const)
      assert.equal(why(line, LIST), name && `the option ${name} is not among those allowed`, line);
  });

  it("do not fit when a value is missing, is none, or is given to a flag", () => {
    const rows: readonly (readonly [string, string])[] = [
      ["-n", "the option -n: has no value"],
      ["--width", "the option --width: has no value"],
      ["-n many", "the option -n: many is not a number"],
      ["-nl", "the option -n: l is not a number"],
      ["--all=yes", "the option --all takes no value"],
      ["--all=", "the option --all takes no value"],
      ["--width=", "the option --width:  is not a number"],
      ["--color=always", "the option --color: always is none of auto, never"],
      // A program may take the word as its next option, so it is no path.
      ["-f -l", "the option -f: has no value"],
      ["-f ../x", "the option -f: /srv/x is not under {workspace}/**"],
      ["-f/etc/passwd", "the option -f: /etc/passwd is not under {workspace}/**"],
      ["-f .env", "the option -f: /srv/work/.env is a secret of this policy"],
    ];
    for (const [line, said] of rows) assert.equal(why(line, LIST), said, line);
  });

  it("take a value that may be left out only when it is attached: the next word is an operand", () => {
    assert.equal(why("--color never", LIST), undefined);
    assert.match(why("--color /etc", LIST) ?? "", /^\/etc is not under/);
  });

  it("that are whole words are neither taken apart nor given a value with a sign", () => {
    const find: Grammar = {
      wholeWords: true,
      options: { "-name": "text", "-print": "flag" },
      operands: ["text"],
      many: true,
    };
    assert.equal(why(". -name x -print", find), undefined);
    for (const line of ["-pr", "-name=x", "--", "-printf x", "-n"])
      assert.match(why(line, find) ?? "", /not among/, line);
    assert.equal(why("-name", find), "the option -name: has no value");
    assert.equal(why("-name -print", find), "the option -name: has no value");
  });

  it("a number with a dash is an option only where the rule says so", () => {
    const { "-#": _, ...without } = LIST.options ?? {};
    assert.equal(why("-20", { ...LIST, options: without }), "the option -2 is not among those allowed");
    assert.equal(why("-2x", LIST), "the option -2 is not among those allowed");
  });
});

describe("operands of a command", () => {
  it("are checked one by one, by their place, and there is none beyond the last", () => {
    assert.equal(why("a b", LIST), undefined);
    assert.equal(why("a b c", LIST), "c is one operand too many");
    assert.equal(why("/etc b", LIST), "/etc is not under {workspace}/**");
    assert.equal(why("-", LIST), undefined);
    assert.equal(why("x", {}), "x is one operand too many");
  });

  it("may be as many as there are where the last one is repeated", () => {
    const many: Grammar = { operands: ["number", { paths: ["{workspace}/**"] }], many: true };
    assert.equal(why("1 a b c", many), undefined);
    assert.equal(why("1 a /b c", many), "/b is not under {workspace}/**");
    assert.equal(why("a", many), "a is not a number");
  });

  it("behind two dashes are operands whatever they begin with, and are checked all the same", () => {
    assert.equal(why("-l -- -x", LIST), undefined);
    assert.equal(why("-- -x /etc extra", LIST), "extra is one operand too many");
    assert.equal(why("-- ../x", LIST), "/srv/x is not under {workspace}/**");
  });
});

describe("sub-commands", () => {
  const git: Grammar = {
    before: { "--no-pager": "flag", "-C": { paths: ["{workspace}/**"] } },
    commands: ["log", "branch --list", "branch"],
    options: { "-p": "flag" },
  };

  it("are the first words behind the options in front of them, the longest that fits", () => {
    for (const line of ["log", "--no-pager log -p", "-C sub log", "branch --list", "branch --list -p", "branch"])
      assert.equal(why(line, git), undefined, line);
  });

  it("that are missing, shortened or others do not fit", () => {
    const rows: readonly (readonly [string, string])[] = [
      ["", "nothing is not among the allowed sub-commands"],
      ["--no-pager", "nothing is not among the allowed sub-commands"],
      ["lo", "lo is not among the allowed sub-commands"],
      ["push", "push is not among the allowed sub-commands"],
      ["-p log", "the option -p is not among those allowed"],
      ["log --no-pager", "the option --no-pager is not among those allowed"],
      ["-- log", "-- stands where a sub-command is expected"],
      ["- log", "- is not among the allowed sub-commands"],
      ["-C / log", "the option -C: / is not under {workspace}/**"],
      ["branch new", "new is one operand too many"],
    ];
    for (const [line, said] of rows) assert.equal(why(line, git), said, line);
  });
});

describe("values", () => {
  const misfit = (text: string, value: Value): string | undefined => valueMisfit(text, value, scene);

  it("that are numbers may have a sign, a fraction and a unit of two letters, and nothing else", () => {
    for (const text of ["0", "12", "-5", "+5", "1.5", "10k", "4MB"])
      assert.equal(misfit(text, "number"), undefined, text);
    for (const text of ["", "k", "1.", ".5", "1e9x", "1 ", "0x10", "10kib", "--5", "1;rm", "１", "1\n"])
      assert.equal(misfit(text, "number"), `${text} is not a number`, JSON.stringify(text));
  });

  it("that are words match one pattern, and none of those that bar them", () => {
    const value = { like: ["HEAD*", "main"], unlike: ["*..*", "*\n*"] };
    for (const text of ["HEAD", "HEAD~3", "main"]) assert.equal(misfit(text, value), undefined);
    assert.equal(misfit("mainly", value), "mainly is none of HEAD*, main");
    assert.equal(misfit("HEAD..x", value), "HEAD..x is one of *..*");
  });

  it("that are text may be anything", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => misfit(text, "text") === undefined));
  });
});

describe("any arguments", () => {
  const word = fc.oneof(
    fc.constantFrom(
      "-l",
      "-a",
      "-n",
      "-n3",
      "--all",
      "--width=8",
      "--",
      "-",
      "-20",
      "a",
      "/etc",
      "../x",
      "-f",
      "--color",
    ),
    fc.string({ maxLength: 4 }),
  );

  it("are judged without an error, and the same way each time", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (args) => {
        assert.equal(grammarMisfit(args, LIST, scene), grammarMisfit([...args], LIST, scene));
      }),
    );
  });

  it("that fit never name a path outside, wherever it stands", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), fc.nat(6), (args, at) => {
        const operandless: Grammar = {
          options: LIST.options ?? {},
          operands: [{ paths: ["{workspace}/**"] }],
          many: true,
        };
        const place = Math.min(at, args.length);
        const all = [...args.slice(0, place), "/etc/passwd", ...args.slice(place)];
        assert.notEqual(grammarMisfit(all, operandless, scene), undefined, all.join(" "));
      }),
      { numRuns: 300 },
    );
  });
});
