import type { PathValue, Places, Policy } from "./rule.ts";

interface Segment {
  readonly text: string;
  /** Whether `*` in the text is a wildcard; in the name of a place it is a letter like any other. */
  readonly wild: boolean;
}

const PLACE = /^\{(workspace|home|state)\}(?=\/|$)/;

/** Whether a text is a path pattern. */
export function isPattern(text: string): boolean {
  const tail = text.replace(PLACE, "");
  return tail === "" ? text !== "" : tail.startsWith("/") && !/[{}]|\*\*.|\/\.{1,2}(\/|$)/.test(tail);
}

/** A path made absolute and freed of `.` and `..`, by its letters alone. */
export function normalPath(path: string, cwd: string): string {
  const kept: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`;
}

/** The last segment of a path. */
export function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether `*` in a pattern can be filled so that it becomes the text. */
export function matchesWord(pattern: string, text: string): boolean {
  if (!pattern.includes("*")) return pattern === text;
  const [head = "", ...pieces] = pattern.split("*");
  const tail = pieces.pop() ?? "";
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false;
  let from = head.length;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return from <= text.length - tail.length;
}

const parts = (path: string): readonly string[] => path.split("/").filter((part) => part !== "");

/** Patterns are few and judged by the thousand, so each is taken apart once for the places that it is used with. */
const known = new WeakMap<Places, Map<string, readonly Segment[]>>();

function segments(pattern: string, places: Places): readonly Segment[] {
  const here = known.get(places) ?? new Map<string, readonly Segment[]>();
  known.set(places, here);
  const found = here.get(pattern) ?? takeApart(pattern, places);
  here.set(pattern, found);
  return found;
}

function takeApart(pattern: string, places: Places): readonly Segment[] {
  const place = PLACE.exec(pattern)?.[1];
  const root = place === "workspace" || place === "home" || place === "state" ? places[place] : "";
  return [
    ...parts(root).map((text) => ({ text, wild: false })),
    ...parts(pattern.replace(PLACE, "")).map((text) => ({ text, wild: text.includes("*") })),
  ];
}

const fits = (segment: Segment, part: string): boolean =>
  segment.wild ? matchesWord(segment.text, part) : segment.text === part;

/** Whether a normal path matches one of the patterns. */
export function matchesPath(patterns: readonly string[], path: string, places: Places): boolean {
  const names = parts(path);
  return patterns.some((pattern) => {
    const wanted = segments(pattern, places);
    const open = wanted.at(-1)?.wild === true && wanted.at(-1)?.text === "**";
    const fixed = open ? wanted.slice(0, -1) : wanted;
    if (open ? names.length < fixed.length : names.length !== fixed.length) return false;
    return fixed.every((segment, index) => fits(segment, names[index] ?? ""));
  });
}

/** Whether something that matches one of the patterns can lie below a normal path. */
function reaches(patterns: readonly string[], path: string, places: Places): boolean {
  const names = parts(path);
  return patterns.some((pattern) => {
    const wanted = segments(pattern, places);
    return (
      wanted.length > names.length && wanted.slice(0, names.length).every((at, index) => fits(at, names[index] ?? ""))
    );
  });
}

/**
 * Why a path is not what a rule asks for, or nothing when it is.
 * Only the letters of the path are looked at: a symlink in the workspace may still lead out of it. The hand resolves
 * the links of file plans; for a read-only command the second wall is the sandbox and the user that it runs as.
 */
export function pathMisfit(path: string, value: PathValue, policy: Policy): string | undefined {
  if (!matchesPath(value.paths, path, policy.places)) return `${path} is not under ${value.paths.join(" or ")}`;
  if (matchesPath(policy.secrets, path, policy.places)) return `${path} is a secret of this policy`;
  if (value.deep === true && reaches(policy.secrets, path, policy.places)) return `below ${path} are secrets`;
  return undefined;
}
