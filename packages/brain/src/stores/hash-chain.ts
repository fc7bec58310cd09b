import { hash } from "node:crypto";

/** An entry as it is kept: each hash covers the one before it, so nothing can be changed without a trace. */
export interface ChainLink {
  readonly seq: number;
  readonly at: number;
  readonly body: string;
  /** In hexadecimal. */
  readonly hash: string;
}

/** Where the chain of every run begins. */
export const ROOT = { seq: 0, hash: "" } as const;

/** The hash of an entry that comes after the one with hash `previous`. */
export function linkHash(run: string, previous: string, entry: Omit<ChainLink, "hash">): string {
  return hash("sha256", `${previous}\n${run}\n${entry.seq}\n${entry.at}\n${entry.body}`, "hex");
}

/** A check to be given each link that comes after `from`, in order: why the chain breaks there, if it does. */
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
