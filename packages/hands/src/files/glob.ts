import { Fault, HAND_LIMITS } from "@vidro/core";

/** A compiled glob. */
interface Glob {
  /** Whether the pattern matches a relative path. */
  matches(path: string): boolean;
  /** Whether a path below a relative folder can match. */
  reaches(folder: string): boolean;
  /** Whether the pattern contains a name literally, as a whole path component. */
  names(name: string): boolean;
}

/** One part of a pattern: `"any"` matches any number of items (names or characters), a test exactly one. */
type Part = "any" | ((item: string) => boolean);

/**
 * Compiles `*`, `**`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` and `\x`. Hidden names match like any other. A match takes at
 * most the length of the pattern times the length of the path, for every pattern.
 */
export function compileGlob(pattern: string): Glob {
  if (pattern.length > HAND_LIMITS.globChars) {
    throw new Fault("BAD_ARGUMENTS", `The glob is longer than ${HAND_LIMITS.globChars} characters.`);
  }
  const branches = expand(pattern).map((branch) => namesOf(branch));
  const compiled = branches.map((names) => names.map((name) => (name === "**" ? "any" : nameTest(name))));
  return {
    matches: (path) => compiled.some((parts) => matchesAll(endingInName(parts), namesOf(path))),
    reaches: (folder) => compiled.some((parts) => reachesBelow(parts, namesOf(folder))),
    names: (name) => branches.some((names) => names.includes(name)),
  };
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/** A trailing `**` matches everything below a folder, but not the folder itself. */
function endingInName(parts: Part[]): Part[] {
  return parts.at(-1) === "any" ? [...parts, () => true] : parts;
}

function reachesBelow(parts: readonly Part[], folder: readonly string[]): boolean {
  for (const [index, name] of folder.entries()) {
    const part = parts[index];
    if (part === "any") return true;
    if (part === undefined || !part(name)) return false;
  }
  return parts.length > folder.length;
}

/**
 * Whether the parts match all items. An `any` first matches nothing, and one item more each time the rest fails; only
 * the last `any` needs to be retried, so the time is quadratic at worst.
 */
function matchesAll(parts: readonly Part[], items: readonly string[]): boolean {
  let part = 0;
  let item = 0;
  let again: { part: number; item: number } | undefined;
  while (item < items.length) {
    const test = parts[part];
    if (test === "any") {
      again = { part: part + 1, item };
      part += 1;
    } else if (test !== undefined && test(items[item] ?? "")) {
      part += 1;
      item += 1;
    } else if (again !== undefined) {
      again.item += 1;
      part = again.part;
      item = again.item;
    } else {
      return false;
    }
  }
  return parts.slice(part).every((rest) => rest === "any");
}

function nameTest(pattern: string): (name: string) => boolean {
  const parts: Part[] = [];
  const chars = Array.from(pattern);
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? "";
    const set = char === "[" ? charSet(chars, at) : undefined;
    if (set !== undefined) {
      parts.push(set.test);
      at = set.end;
    } else if (char === "*") parts.push("any");
    else if (char === "?") parts.push(() => true);
    else if (char === "\\" && at + 1 < chars.length) {
      at += 1;
      parts.push(equals(chars[at] ?? ""));
    } else parts.push(equals(char));
  }
  return (name) => matchesAll(parts, Array.from(name));
}

function equals(wanted: string): (char: string) => boolean {
  return (char) => char === wanted;
}

/** The character set that opens at `start`; undefined if it is not closed, so that `[` is literal. */
function charSet(
  chars: readonly string[],
  start: number,
): { test: (char: string) => boolean; end: number } | undefined {
  const negated = chars[start + 1] === "!" || chars[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  // A bracket in the first place is a member of the set and does not close it.
  const end = chars.indexOf("]", first + 1);
  if (end === -1) return undefined;
  const ranges: [string, string][] = [];
  for (let at = first; at < end; at += 1) {
    const isRange = chars[at + 1] === "-" && at + 2 < end;
    const low = chars[at] ?? "";
    ranges.push([low, isRange ? (chars[at + 2] ?? "") : low]);
    if (isRange) at += 2;
  }
  return { test: (char) => ranges.some(([low, high]) => low <= char && char <= high) !== negated, end };
}

/** Expands braces; a brace without comma or end is literal. */
function expand(pattern: string): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const brace = firstBrace(next);
    if (brace === undefined) done.push(next);
    else for (const choice of brace.choices) waiting.push(brace.before + choice + brace.after);
    if (done.length + waiting.length > HAND_LIMITS.globBranches) {
      throw new Fault(
        "BAD_ARGUMENTS",
        `The braces of the glob stand for more than ${HAND_LIMITS.globBranches} patterns; use fewer.`,
      );
    }
  }
  return done;
}

function firstBrace(pattern: string): { before: string; choices: string[]; after: string } | undefined {
  for (let open = 0; open < pattern.length; open += 1) {
    if (pattern[open] === "\\") open += 1;
    else if (pattern[open] === "{") {
      const found = choicesFrom(pattern, open);
      if (found !== undefined) return { before: pattern.slice(0, open), ...found };
    }
  }
  return undefined;
}

function choicesFrom(pattern: string, open: number): { choices: string[]; after: string } | undefined {
  const choices: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === "\\") at += 1;
    else if (char === "{") depth += 1;
    else if (char === "}") depth -= 1;
    if ((char === "," && depth === 1) || depth === 0) {
      choices.push(pattern.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) return choices.length > 1 ? { choices, after: pattern.slice(from) } : undefined;
  }
  return undefined;
}
