import { Fault, HAND_LIMITS } from "@vidro/core";
import { ANY, DIGITS, SPACE, WORD, foldCase, negate, unite } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";

/** What must hold between two characters for a match to go on. */
export type Assertion = "start" | "end" | "boundary" | "no-boundary";

/** A parsed regular expression. */
export type RegexNode =
  | { readonly kind: "char"; readonly set: CharSet; readonly literal?: string }
  | { readonly kind: "assert"; readonly that: Assertion }
  | { readonly kind: "all"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "one"; readonly choices: readonly RegexNode[] }
  | { readonly kind: "repeat"; readonly part: RegexNode; readonly least: number; readonly most: number };

const SETS: { readonly [escape: string]: CharSet } = {
  d: DIGITS,
  D: negate(DIGITS),
  w: WORD,
  W: negate(WORD),
  s: SPACE.map(([low, high]) => [low, high]),
  S: negate(SPACE),
};
const CONTROLS: { readonly [escape: string]: number } = { t: 9, v: 11, f: 12, r: 13, "0": 0 };
const ASSERTIONS: { readonly [escape: string]: Assertion } = {
  b: "boundary",
  B: "no-boundary",
  A: "start",
  z: "end",
};
/** Groups of other engines, by how they begin; the first that fits is named. */
const REFUSED_GROUPS: readonly (readonly [begin: string, name: string])[] = [
  ["(?=", "a lookahead (?=…)"],
  ["(?!", "a negative lookahead (?!…)"],
  ["(?<=", "a lookbehind (?<=…)"],
  ["(?<!", "a negative lookbehind (?<!…)"],
  ["(?>", "an atomic group (?>…)"],
  ["(?#", "a comment (?#…)"],
  ["(?(", "a conditional (?(…)…)"],
];

/**
 * Parses a regular expression for one line: characters, `.`, classes `[a-z]`, `\d \w \s` and their opposites, `^ $`,
 * `\b \B`, groups, `|`, and `* + ? {n,m}`. Whatever else other engines know is refused by its name, so that no pattern
 * means something else here than where it was written for.
 */
export function parseRegex(source: string, ignoreCase: boolean): RegexNode {
  return new Parser(source, ignoreCase).parse();
}

class Parser {
  readonly #chars: readonly string[];
  readonly #ignoreCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#chars = Array.from(source);
    this.#ignoreCase = ignoreCase;
  }

  parse(): RegexNode {
    const pattern = this.#choices();
    if (this.#at < this.#chars.length) throw this.#refusal('there is a ")" without "("; write \\) for the character');
    return pattern;
  }

  #choices(): RegexNode {
    this.#depth += 1;
    if (this.#depth > HAND_LIMITS.regexDepth)
      throw this.#refusal(`groups lie more than ${HAND_LIMITS.regexDepth} deep`);
    const choices = [this.#sequence()];
    while (this.#takes("|")) choices.push(this.#sequence());
    this.#depth -= 1;
    return choices.length === 1 ? choices[0]! : { kind: "one", choices };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#at < this.#chars.length && !"|)".includes(this.#chars[this.#at]!)) parts.push(this.#repetition());
    return { kind: "all", parts };
  }

  #repetition(): RegexNode {
    const part = this.#atom();
    const range = this.#quantifier();
    if (range === undefined) return part;
    if (part.kind === "assert") throw this.#refusal("a quantifier follows an anchor, which has no width");
    // Lazy or greedy, the same lines match.
    if (!this.#takes("?") && this.#peek() === "+") throw this.#refusal("it has a possessive quantifier");
    if (this.#quantifier() !== undefined) throw this.#refusal("one quantifier follows another");
    return { kind: "repeat", part, ...range };
  }

  #quantifier(): { least: number; most: number } | undefined {
    if (this.#takes("*")) return { least: 0, most: Infinity };
    if (this.#takes("+")) return { least: 1, most: Infinity };
    if (this.#takes("?")) return { least: 0, most: 1 };
    const found = /^\{(\d{1,6})(,?)(\d{0,6})\}/u.exec(this.#rest(16));
    if (found === null) return undefined;
    const [whole, from = "", comma, to = ""] = found;
    if (comma === "" && to !== "") return undefined;
    this.#at += whole.length;
    const least = Number(from);
    const most = comma === "" ? least : to === "" ? Infinity : Number(to);
    if (most < least) throw this.#refusal(`the quantifier ${whole} ends before it begins`);
    return { least, most };
  }

  #atom(): RegexNode {
    const char = this.#chars[this.#at]!;
    if (char === "(") return this.#group();
    if (char === "[") return { kind: "char", set: this.#class() };
    if (char === "\\") return this.#escape();
    if ("*+?".includes(char))
      throw this.#refusal(`"${char}" has nothing before it to repeat; write \\${char} for the character`);
    this.#at += 1;
    if (char === ".") return { kind: "char", set: ANY };
    if (char === "^") return { kind: "assert", that: "start" };
    if (char === "$") return { kind: "assert", that: "end" };
    return this.#literal(char);
  }

  #group(): RegexNode {
    const begin = this.#rest(4);
    const refused = REFUSED_GROUPS.find(([head]) => begin.startsWith(head));
    if (refused !== undefined) throw this.#refusal(`it has ${refused[1]}`);
    const head = /^\((?:\?:|\?P?<[A-Za-z_]\w{0,63}>)?/u.exec(this.#rest(80))![0];
    this.#at += head.length;
    if (head === "(" && this.#peek() === "?") throw this.#refusal("it has inline flags (?…); use ignore_case");
    const inside = this.#choices();
    if (!this.#takes(")")) throw this.#refusal('a "(" is not closed; write \\( for the character');
    return inside;
  }

  #escape(): RegexNode {
    const name = this.#chars[this.#at + 1];
    if (name === undefined) throw this.#refusal("it ends in a single \\; write \\\\ for the character");
    if (/[1-9]/u.test(name) || name === "k") throw this.#refusal(`it has the backreference \\${name}`);
    const that = ASSERTIONS[name];
    if (that !== undefined) {
      this.#at += 2;
      return { kind: "assert", that };
    }
    const set = this.#escapedSet();
    const [only] = set;
    const isOne = set.length === 1 && only !== undefined && only[0] === only[1];
    return isOne ? this.#literal(String.fromCodePoint(only[0])) : { kind: "char", set };
  }

  #literal(literal: string): RegexNode {
    const code = literal.codePointAt(0)!;
    const set: CharSet = [[code, code]];
    return this.#ignoreCase ? { kind: "char", set: foldCase(set) } : { kind: "char", set, literal };
  }

  /** The characters that the escape at the current place stands for, inside or outside a class. */
  #escapedSet(): CharSet {
    const name = this.#chars[this.#at + 1] ?? "";
    const set = SETS[name];
    const code = CONTROLS[name];
    const hex = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|[xu]\{([0-9a-fA-F]{1,6})\})/u.exec(this.#rest(12));
    if (hex !== null) {
      this.#at += hex[0].length;
      const value = Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "", 16);
      if (value > 0x10ffff) throw this.#refusal(`${hex[0]} is no character`);
      return [[value, value]];
    }
    if (name === "n") throw this.#refusal("it has \\n, and a match lies within one line");
    if (/[pP]/u.test(name)) throw this.#refusal(`it has the Unicode class \\${name}; list the characters as [a-zà-ÿ]`);
    if (set === undefined && code === undefined && /[A-Za-z0-9]/u.test(name))
      throw this.#refusal(`it has the escape \\${name}, which is not known`);
    this.#at += 2;
    if (set !== undefined) return set;
    const own = code ?? name.codePointAt(0) ?? 0;
    return [[own, own]];
  }

  #class(): CharSet {
    this.#at += 1;
    const isNegated = this.#takes("^");
    const ranges: CharSet[] = [];
    for (let isFirst = true; isFirst || this.#peek() !== "]"; isFirst = false) {
      if (this.#at >= this.#chars.length) throw this.#refusal('a "[" is not closed; write \\[ for the character');
      if (this.#rest(2) === "[:") throw this.#refusal("it has a class by name such as [:alpha:]; write [A-Za-z]");
      if (/^(?:&&|--|~~)/u.test(this.#rest(2))) throw this.#refusal("it has an operation between classes");
      ranges.push(this.#range());
    }
    this.#at += 1;
    const set = unite(ranges.flat());
    const folded = this.#ignoreCase ? foldCase(set) : set;
    return isNegated ? negate(folded) : folded;
  }

  #range(): CharSet {
    const low = this.#member();
    if (this.#peek() !== "-" || this.#chars[this.#at + 1] === "]" || this.#at + 1 >= this.#chars.length) return low;
    this.#at += 1;
    const high = this.#member();
    const [from, to] = [low[0]?.[0] ?? 0, high[0]?.[0] ?? 0];
    if (low.length !== 1 || high.length !== 1 || from !== low[0]?.[1] || to !== high[0]?.[1] || to < from)
      throw this.#refusal("a range of a class does not go from one character to a later one");
    return [[from, to]];
  }

  #member(): CharSet {
    const char = this.#peek() ?? "";
    if (char === "\\" && this.#chars[this.#at + 1] === "b") throw this.#refusal("it has \\b inside a class");
    if (char === "\\") return this.#escapedSet();
    this.#at += 1;
    const code = char.codePointAt(0) ?? 0;
    return [[code, code]];
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #rest(length: number): string {
    return this.#chars.slice(this.#at, this.#at + length).join("");
  }

  #takes(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #refusal(why: string): Fault {
    const known = "Known are . [a-z] [^a-z] \\d \\w \\s \\b ^ $ ( ) | * + ? {n,m}";
    return new Fault(
      "BAD_ARGUMENTS",
      `The regular expression is refused: ${why} (at character ${this.#at + 1}). ${known}.`,
    );
  }
}
