import type { PathValue, PolicyFolders, Policy } from "./rule.ts";

/** The base for reading words as paths: relative ones start at `cwd`. */
export interface Scene {
  readonly cwd: string;
  readonly policy: Policy;
  /** Whether the content of the named files may be shown without approval. */
  readonly showsContent: boolean;
}

interface Segment {
  readonly text: string;
  /** Whether `*` in the text is a wildcard; in the name of a place it is an ordinary character. */
  readonly wild: boolean;
}

const PLACE = /^\{(workspace|home|state)\}(?=\/|$)/;

// A name at any depth below a place: the place, two stars, the name.
const ANYWHERE = /^\{(?:workspace|home|state)\}\/\*\*\/(?!\.{1,2}$|\*+$)[^/{}]+$/;

/** Whether a pattern names files at any depth below a place. */
export function isAnywhere(pattern: string): boolean {
  return ANYWHERE.test(pattern);
}

/** Whether a text is a path pattern. */
export function isPattern(text: string): boolean {
  if (isAnywhere(text)) return true;
  const tail = text.replace(PLACE, "");
  return tail === "" ? text !== "" : tail.startsWith("/") && !/[{}]|\*\*.|\/\.{1,2}(\/|$)/.test(tail);
}

/** A path resolved against a folder, not normalised. */
const absolutePath = (path: string, cwd: string): string => (path.startsWith("/") ? path : `${cwd}/${path}`);

/** A path made absolute, with `.` and `..` removed lexically. */
export function normalPath(path: string, cwd: string): string {
  const kept: string[] = [];
  for (const part of absolutePath(path, cwd).split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`;
}

/** The last segment of a path. */
export function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether a text matches a pattern in which `*` stands for any characters. */
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

/** A parsed pattern. */
interface Pattern {
  readonly segments: readonly Segment[];
  /** Whether it ends in `**`, which stands for any number of further segments. */
  readonly open: boolean;
  /** Whether any number of segments may lie before the last one. */
  readonly anywhere: boolean;
}

/** Patterns are few and matched thousands of times, so each is parsed once for the places that it is used with. */
const known = new WeakMap<PolicyFolders, Map<string, Pattern>>();

function compilePattern(pattern: string, places: PolicyFolders): Pattern {
  let here = known.get(places);
  if (here === undefined) known.set(places, (here = new Map()));
  let found = here.get(pattern);
  if (found === undefined) here.set(pattern, (found = takeApart(pattern, places)));
  return found;
}

function takeApart(pattern: string, places: PolicyFolders): Pattern {
  const place = PLACE.exec(pattern)?.[1];
  const root = place === "workspace" || place === "home" || place === "state" ? places[place] : "";
  const tail = parts(pattern.replace(PLACE, ""));
  const open = tail.at(-1) === "**";
  const anywhere = isAnywhere(pattern);
  const named = open ? tail.slice(0, -1) : anywhere ? tail.slice(1) : tail;
  return {
    segments: [
      ...parts(root).map((text) => ({ text, wild: false })),
      ...named.map((text) => ({ text, wild: text.includes("*") })),
    ],
    open,
    anywhere,
  };
}

const fits = (segment: Segment | undefined, part: string): boolean =>
  segment === undefined || (segment.wild ? matchesWord(segment.text, part) : segment.text === part);

/** Whether a normal path matches one of the patterns. */
export function matchesPath(patterns: readonly string[], path: string, places: PolicyFolders): boolean {
  const names = parts(path);
  return patterns.some((pattern) => {
    const { segments, open, anywhere } = compilePattern(pattern, places);
    if (anywhere) return fitsAnywhere(segments, names);
    if (open ? names.length < segments.length : names.length !== segments.length) return false;
    return names.every((name, index) => fits(segments[index], name));
  });
}

/** Whether names begin with all segments but the last, and end with the last. */
function fitsAnywhere(segments: readonly Segment[], names: readonly string[]): boolean {
  if (names.length < segments.length || !fits(segments.at(-1), names.at(-1) ?? "")) return false;
  return segments.slice(0, -1).every((segment, index) => fits(segment, names[index] ?? ""));
}

/** Whether a path below a normal path can match one of the patterns; whether a name at any depth lies below it is asked of the disk. */
function reaches(patterns: readonly string[], path: string, places: PolicyFolders): boolean {
  const names = parts(path);
  return patterns.some((pattern) => {
    const { segments, open, anywhere } = compilePattern(pattern, places);
    if (anywhere) return false;
    if (open ? names.length > segments.length : names.length >= segments.length) return false;
    return names.every((name, index) => fits(segments[index], name));
  });
}

/**
 * The normal paths of a word: the lexical one, and the one after its symlinks are resolved. The latter starts from the
 * word as written, since `link/..` is the parent of the link's target.
 */
export function meanings(word: string, cwd: string, policy: Policy): readonly string[] {
  const written = normalPath(word, cwd);
  const real = policy.real?.(absolutePath(word, cwd));
  return real === undefined || real === written ? [written] : [written, real];
}

/**
 * Why a word does not match a rule's path; undefined when it does. The target of a link must not be a secret, and a link
 * in the workspace, which is untrusted, must not lead outside the rule's paths. Links in folders of the host are trusted:
 * /etc/os-release may lie elsewhere.
 */
export function pathMisfit(word: string, value: PathValue, scene: Scene): string | undefined {
  const { policy } = scene;
  const [written = "/", real = written] = meanings(word, scene.cwd, policy);
  const isOurs = matchesPath(["{workspace}/**"], written, policy.places);
  return (
    outside(written, value, policy) ??
    hiddenPathCause(written, value, policy) ??
    hiddenPathCause(real, value, policy) ??
    (isOurs ? outside(real, value, policy) : undefined) ??
    (scene.showsContent ? keptPathCause(real, policy) : undefined)
  );
}

function outside(path: string, value: PathValue, { places }: Policy): string | undefined {
  return matchesPath(value.paths, path, places) ? undefined : `${path} is not under ${value.paths.join(" or ")}`;
}

function keptPathCause(path: string, policy: Policy): string | undefined {
  const why = policy.kept?.(path);
  return why === undefined ? undefined : `${path} is ${why}`;
}

function hiddenPathCause(path: string, value: PathValue, policy: Policy): string | undefined {
  const { places, secrets } = policy;
  if (matchesPath(secrets, path, places)) return `${path} is a secret of this policy`;
  if (value.deep !== true) return undefined;
  return reaches(secrets, path, places) || policy.holdsSecret?.(path) === true
    ? `below ${path} are secrets`
    : undefined;
}
