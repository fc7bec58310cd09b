import { hash } from "node:crypto";

/** A stored entry; each hash covers the one before it, so that a change breaks the chain. */
export interface ChainLink {
  readonly seq: number;
  readonly at: number;
  readonly body: string;
  /** In hexadecimal. */
  readonly hash: string;
}

/** The hash before the first entry of every run. */
export const ROOT = { seq: 0, hash: "" } as const;

/** The hash of an entry that comes after the one with hash `previous`. */
export function linkHash(run: string, previous: string, entry: Omit<ChainLink, "hash">): string {
  return hash("sha256", `${previous}\n${run}\n${entry.seq}\n${entry.at}\n${entry.body}`, "hex");
}

/** A function to be called with each link after `from`, in order; it returns why the chain breaks there, if it does. */
export function chainCheck(
  run: string,
  from: { readonly seq: number; readonly hash: string } = ROOT,
): (link: ChainLink) => string | undefined {
  let { seq, hash: previous } = from;
  return (link) => {
    seq += 1;
    if (link.seq !== seq) return `entry ${seq} is missing; ${link.seq} comes next`;
    if (linkHash(run, previous, link) !== link.hash) return `entry ${seq} is not what was written`;
    previous = link.hash;
    return undefined;
  };
}
