import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { afterEach, describe, it } from "node:test";
import { toTerminal, withoutControls } from "./control-sequences.ts";
import { columnsOf } from "./columns.ts";
import { paint, paintWord, terminalSymbols } from "./symbols.ts";
import { isAsciiTerminal, terminalLanguage } from "./terminal-kind.ts";

const NAMES = ["TERM", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG"] as const;
const BEFORE = NAMES.map((name) => [name, process.env[name]] as const);

afterEach(() => {
  for (const [name, value] of BEFORE) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

/** Sets what a terminal says of itself; what is not named is not said. */
function terminalIs(said: { readonly [name in (typeof NAMES)[number]]?: string }): void {
  for (const name of NAMES) {
    delete process.env[name];
    if (said[name] !== undefined) process.env[name] = said[name];
  }
}

/** A stream that can show colours. */
const coloured = Object.assign(new Writable(), {
  isTTY: true,
  getColorDepth: () => 8,
}) as unknown as NodeJS.WriteStream;

describe("symbols before lines", () => {
  it("are drawn on a terminal with UTF-8 and typed on others", () => {
    terminalIs({ TERM: "xterm-256color", LANG: "pt_BR.UTF-8" });
    assert.equal(terminalSymbols().done, "✓");
    for (const said of [
      { TERM: "dumb", LANG: "C.UTF-8" },
      { TERM: "linux", LANG: "C.UTF-8" },
      { TERM: "xterm", LANG: "C" },
    ]) {
      terminalIs(said);
      // oxlint-disable-next-line no-control-regex -- the range of ASCII
      assert.match(Object.values(terminalSymbols()).flat().join(""), /^[\u0020-\u007e]+$/, said.TERM);
    }
  });

  it("are one column wide, so that rows stay in line, except the one of a run below another", () => {
    for (const said of [{ TERM: "xterm", LANG: "C.UTF-8" }, { TERM: "dumb" }]) {
      terminalIs(said);
      for (const [name, symbol] of Object.entries(terminalSymbols()))
        if (name !== "below") for (const one of [symbol].flat()) assert.equal(columnsOf(one as string), 1, name);
    }
  });
});

describe("what a terminal says of itself", () => {
  it("is without UTF-8 only where its locale says so, by the first that is set", () => {
    const rows: readonly (readonly [Parameters<typeof terminalIs>[0], boolean])[] = [
      [{}, false],
      [{ LANG: "C" }, true],
      [{ LANG: "en_US.utf8" }, false],
      [{ LC_ALL: "C", LANG: "en_US.UTF-8" }, true],
      [{ LC_ALL: "", LC_CTYPE: "C.UTF-8", LANG: "C" }, false],
    ];
    for (const [said, isAscii] of rows) {
      terminalIs(said);
      assert.equal(isAsciiTerminal(), isAscii, JSON.stringify(said));
    }
  });

  it("is its language where there are words in it, and English else", () => {
    for (const [locale, language] of [
      ["pt_BR.UTF-8", "pt"],
      ["es", "es"],
      ["PT", "pt"],
      ["de_DE.UTF-8", "en"],
      ["C", "en"],
      ["POSIX", "en"],
      ["", "en"],
      ["pt-PT", "pt"],
      ["es@euro", "es"],
      ["es_419.UTF-8", "es"],
      ["estonian", "en"],
      ["ptx_QQ", "en"],
      ["e", "en"],
      ["_es", "en"],
      ["\u0000es", "en"],
      ["es\n", "en"],
      ["x".repeat(10_000), "en"],
    ] as const) {
      terminalIs({ LANG: locale });
      assert.equal(terminalLanguage(), language, locale);
    }
    terminalIs({ LC_ALL: "es_AR", LANG: "pt_BR" });
    assert.equal(terminalLanguage(), "es");
  });
});

describe("colours", () => {
  it("surround the text, and sequences within the text do not reach the terminal", () => {
    terminalIs({ TERM: "xterm-256color", LANG: "C.UTF-8" });
    const painted = paint("red", "a\u001b[2Jb", coloured);
    assert.equal(withoutControls(painted), "a\u001b[2Jb");
    const shown = toTerminal(painted);
    assert.ok(shown.startsWith("\u001b[31m") && shown.endsWith("\u001b[39m"), JSON.stringify(shown));
    assert.ok(!shown.includes("\u001b[2J"));
  });

  it("leave a text with the letter of the placeholder as it is", () => {
    assert.equal(withoutControls(paint(["bold", "cyan"], "x xx x", coloured)), "x xx x");
  });

  it("are those of known words; a word of a newer brain is padded and stays plain", () => {
    const colours = { running: "green" } as const;
    for (const word of ["running", "resting", "toString", "__proto__", "a-very-long-word"])
      assert.equal(withoutControls(paintWord(colours, word, 10)), word.padEnd(10));
    assert.equal(paintWord({}, "x"), "x");
  });
});
