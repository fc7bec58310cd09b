/** The placeholder of a secret. */
export const REDACTED = "[redacted]";

/** The part of a secret behind the part by which it is recognised. */
export interface Tail {
  /**
   * How far the tail goes in `text` from `from`, `eaten` characters of it having been there before, and whether it
   * ends there. `last`: nothing comes after this text.
   */
  eat(
    text: string,
    from: number,
    more: { readonly eaten: number; readonly last: boolean },
  ): { to: number; done: boolean };
}

/** A secret in a text: its match begins at `index`; `from` to `to` and the tail are replaced. */
export interface Hit {
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly tail: Tail;
}

/** Finds secrets, by known values or by their shape. */
export interface Finder {
  /** The first hit at or after `from`; it depends on no more than `holdChars` of text on. */
  find(text: string, from: number): Hit | undefined;
  /** The first place at or after `from` where more text could make or change a hit; the length when there is none. */
  open(text: string, from: number): number;
  /** The first place at or after such a place that a hit to come could replace: what is before it stays. */
  certain(text: string, open: number): number;
}

/** Redacts a text in pieces: the output joins to what the whole text would give. */
export interface TextStream {
  /** Takes a piece; returns the text that later pieces cannot change. */
  push(chunk: string): string;
  /** Ends the text; returns the rest. */
  end(): string;
}

/** How far behind a place a finder may look: by fifteen characters, each of them percent-encoded, and the head of a word. */
export const BEHIND_CHARS = 64;

/** A text with a placeholder for each hit; the same string when there is none. */
export function scan(finder: Finder, text: string): string {
  return finder.find(text, 0) === undefined ? text : scanner(finder)(text, true);
}

/** The same for a text in pieces. */
export function scanStream(finder: Finder): TextStream {
  const advance = scanner(finder);
  return { push: (chunk) => advance(chunk, false), end: () => advance("", true) };
}

/** A tail of any number of characters of one class. */
export function runOf(set: string): Tail {
  const characters = new RegExp(`${set}*`, "y");
  return {
    eat(text, from) {
      characters.lastIndex = from;
      characters.test(text);
      return { to: characters.lastIndex, done: characters.lastIndex < text.length };
    },
  };
}

function scanner(finder: Finder): (chunk: string, last: boolean) => string {
  /** Everything before `at` is processed; some of it is kept because a finder may look behind. */
  let text = "";
  let at = 0;
  /** Everything before `shown` is emitted; the prefix of a later secret is not replaced, and is emitted before it. */
  let shown = 0;
  let tail: Tail | undefined;
  let eaten = 0;

  function eatTail(last: boolean): void {
    if (tail === undefined) return;
    const { to, done } = tail.eat(text, at, { eaten, last });
    eaten += to - at;
    at = to;
    shown = Math.max(shown, at);
    if (done) tail = undefined;
  }

  function replaceHits(last: boolean): string {
    let out = "";
    let safe = at;
    while (tail === undefined) {
      if (last) safe = text.length;
      else if (at >= safe) safe = finder.open(text, at);
      const hit = finder.find(text, at);
      if (hit === undefined || hit.index >= safe) {
        const certain = last ? safe : finder.certain(text, safe);
        out += text.slice(shown, certain);
        at = safe;
        shown = Math.max(shown, certain);
        break;
      }
      out += text.slice(shown, hit.from) + REDACTED;
      at = hit.to;
      shown = at;
      tail = hit.tail;
      eaten = 0;
      eatTail(last);
    }
    return out;
  }

  return (chunk, last) => {
    text += chunk;
    eatTail(last);
    const out = replaceHits(last);
    const behind = Math.max(0, at - BEHIND_CHARS);
    text = text.slice(behind);
    at -= behind;
    shown -= behind;
    return out;
  };
}
