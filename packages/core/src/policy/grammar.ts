import { matchesWord, pathMisfit, type Scene } from "./path.ts";
import type { Grammar, Options, OptionValue, Value } from "./rule.ts";

const NUMBER = /^[+-]?\d+(\.\d+)?[A-Za-z]{0,2}$/;

/** Why a text does not fit a rule's value; undefined when it does. */
export function valueMisfit(text: string, value: Value, scene: Scene): string | undefined {
  if (value === "text") return undefined;
  if (value === "number") return NUMBER.test(text) ? undefined : `${text} is not a number`;
  if ("paths" in value) return pathMisfit(text, value, scene);
  if (!value.like.some((pattern) => matchesWord(pattern, text))) return `${text} is none of ${value.like.join(", ")}`;
  const barred = value.unlike?.find((pattern) => matchesWord(pattern, text));
  return barred === undefined ? undefined : `${text} is one of ${barred}`;
}

/** Reads arguments from left to right as the program's own parser would, and keeps the first mismatch. */
class ArgumentReader {
  readonly operands: string[] = [];
  misfit: string | undefined;
  readonly #args: readonly string[];
  readonly #scene: Scene;
  #next = 0;

  constructor(args: readonly string[], scene: Scene) {
    this.#args = args;
    this.#scene = scene;
  }

  /** The unread words. */
  get rest(): readonly string[] {
    return this.#args.slice(this.#next);
  }

  /** Skips `count` words. */
  skip(count: number): void {
    this.#next += count;
  }

  /** Reads options and, unless the first operand is a sub-command, operands. */
  options(known: Options, style: { readonly wholeWords: boolean; readonly stopAtWord: boolean }): void {
    for (; this.#next < this.#args.length && this.misfit === undefined;) {
      const arg = this.#args[this.#next] ?? "";
      if (!arg.startsWith("-") || arg === "-") {
        if (style.stopAtWord) return;
        this.operands.push(arg);
        this.#next += 1;
        continue;
      }
      this.#next += 1;
      if (style.wholeWords) this.#option(arg, undefined, known);
      else if (arg === "--") return this.#onlyOperands(style.stopAtWord);
      else if (arg.startsWith("--")) this.#long(arg, known);
      else if (/^-\d+$/.test(arg) && Object.hasOwn(known, "-#")) continue;
      else this.#cluster(arg, known);
    }
  }

  #onlyOperands(commandExpected: boolean): void {
    if (commandExpected) this.misfit = "-- stands where a sub-command is expected";
    this.operands.push(...this.rest);
    this.#next = this.#args.length;
  }

  #long(arg: string, known: Options): void {
    const equals = arg.indexOf("=");
    if (equals < 0) this.#option(arg, undefined, known);
    else this.#option(arg.slice(0, equals), arg.slice(equals + 1), known);
  }

  /** Reads `-lah` as three options; the first that takes a value gets the rest of the word. */
  #cluster(arg: string, known: Options): void {
    const letters = arg.slice(1);
    for (let at = 0; at < letters.length && this.misfit === undefined; at += 1) {
      const name = `-${letters.charAt(at)}`;
      if (lookUp(known, name) === "flag") continue;
      const attached = letters.slice(at + 1);
      return this.#option(name, attached === "" ? undefined : attached, known);
    }
  }

  #option(name: string, attached: string | undefined, known: Options): void {
    const type = lookUp(known, name);
    if (type === undefined) this.misfit = `the option ${name} is not among those allowed`;
    else if (type === "flag") this.misfit = attached === undefined ? undefined : `the option ${name} takes no value`;
    else if (typeof type === "object" && "attached" in type) {
      if (attached !== undefined) this.#value(name, attached, type.attached);
    } else this.#value(name, attached ?? this.#nextValue(type), type);
  }

  /** Reads the next word as a value; a word with a dash is refused, since the program may read it as an option. */
  #nextValue(type: Value): string | undefined {
    const word = this.#args[this.#next];
    this.#next += 1;
    return word?.startsWith("-") === true && type !== "number" ? undefined : word;
  }

  #value(name: string, text: string | undefined, type: Value): void {
    const why = text === undefined ? "has no value" : valueMisfit(text, type, this.#scene);
    if (why !== undefined) this.misfit = `the option ${name}: ${why}`;
  }
}

const lookUp = (known: Options, name: string): OptionValue | undefined =>
  name !== "-#" && Object.hasOwn(known, name) ? known[name] : undefined;

/** Why arguments do not fit a grammar; undefined when all of them do. */
export function grammarMisfit(args: readonly string[], grammar: Grammar, scene: Scene): string | undefined {
  const wholeWords = grammar.wholeWords === true;
  const reading = new ArgumentReader(args, scene);
  if (grammar.commands !== undefined) {
    reading.options(grammar.before ?? {}, { wholeWords, stopAtWord: true });
    if (reading.misfit !== undefined) return reading.misfit;
    const words = longestCommand(reading.rest, grammar.commands);
    if (words === undefined) return `${reading.rest[0] ?? "nothing"} is not among the allowed sub-commands`;
    reading.skip(words);
  }
  reading.options(grammar.options ?? {}, { wholeWords, stopAtWord: false });
  return reading.misfit ?? operandsMisfit(reading.operands, grammar, scene);
}

function longestCommand(args: readonly string[], commands: readonly string[]): number | undefined {
  const lengths = commands
    .map((command) => command.split(" "))
    .filter((words) => words.every((word, index) => args[index] === word))
    .map((words) => words.length);
  return lengths.length === 0 ? undefined : Math.max(...lengths);
}

function operandsMisfit(operands: readonly string[], grammar: Grammar, scene: Scene): string | undefined {
  const values = grammar.operands ?? [];
  for (const [index, operand] of operands.entries()) {
    const value = values[index] ?? (grammar.many === true ? values.at(-1) : undefined);
    if (value === undefined) return `${operand} is one operand too many`;
    const why = valueMisfit(operand, value, scene);
    if (why !== undefined) return why;
  }
  return undefined;
}
