import { createHash } from "node:crypto";
import { HAND_LIMITS } from "@vidro/core";

/* The index of a git repository: its list of tracked files, in the versions 2 to 4 of its format. */

/** What the index says of a tracked file. */
export interface IndexEntry {
  /** From the top of the work tree. */
  readonly path: string;
  /** Type and rights. */
  readonly mode: number;
  /** Hash of its content as git stores it, in hexadecimal digits. */
  readonly hash: string;
  /** Size, inode and times of the file when git saw it last; each as its lowest 32 bits. */
  readonly seen: FileStamp;
  /** Whether it is one side of a conflict. */
  readonly isConflict: boolean;
  /** Whether git was told not to compare the file with its entry. */
  readonly isLeftAlone: boolean;
  readonly place: EntryPlace;
}

/** Size, inode and times, the latter in seconds and nanoseconds. */
interface FileStamp {
  readonly size: number;
  readonly inode: number;
  readonly changed: readonly [number, number];
  readonly modified: readonly [number, number];
}

/** Offsets in the index: of the entry, of what follows its flags, of the end of its name, and of the next entry. */
interface EntryPlace {
  readonly from: number;
  readonly name: number;
  readonly nameEnd: number;
  readonly to: number;
}

/** A parsed index. */
export interface GitIndex {
  readonly bytes: Buffer;
  readonly version: number;
  readonly algorithm: HashAlgorithm;
  readonly entries: readonly IndexEntry[];
  /** Where the extensions begin. */
  readonly entriesEnd: number;
}

/** The hash of a repository's objects. */
export type HashAlgorithm = "sha1" | "sha256";

const HASH_BYTES = { sha1: 20, sha256: 32 } as const;
const HEADER_BYTES = 12;
/** Size of the fields before the hash. */
const STAMP_BYTES = 40;

/** Bits of the flags: never compared, further flags follow, number of the side of a conflict. */
const FLAGS = { valid: 0x8000, extended: 0x4000, stage: 0x3000 } as const;
/** Bit of the further flags: not in the work tree. */
const SKIP_WORK_TREE = 0x4000;

/** Extensions that hold offsets of entries. git does without them. */
const OFFSETS = new Set(["EOIE", "IEOT"]);

/** In version 4 a name of one byte may stand for thousands; git itself writes names that are a few times as long. */
const NAME_BYTES = 4 * HAND_LIMITS.gitIndexBytes;

/** Parses an index; throws a RangeError if it is cut off, or is none that git of this time writes. */
export function parseIndex(bytes: Buffer): GitIndex {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) throw new RangeError("no index of git");
  const algorithm = algorithmOf(bytes);
  const entries: IndexEntry[] = [];
  let from = HEADER_BYTES;
  let before: Buffer = Buffer.alloc(0);
  let side = -1;
  let nameBytes = 0;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const { entry, name, stage } = parseEntry({ bytes, version, algorithm }, from, before);
    // git reads no other order either, and a file that is named a million times is not read a million times.
    const order = Buffer.compare(before, name);
    if (order > 0 || (order === 0 && stage <= side)) throw new RangeError("the entries of the index are out of order");
    nameBytes += name.length;
    if (nameBytes > NAME_BYTES) throw new RangeError("the names of the index are too long");
    side = stage;
    entries.push(entry);
    before = name;
    from = entry.place.to;
  }
  return { bytes, version, algorithm, entries, entriesEnd: from };
}

/** The hash with which an index ends tells which one its repository uses; zeros stand for one that was left out. */
function algorithmOf(bytes: Buffer): HashAlgorithm {
  for (const algorithm of ["sha1", "sha256"] as const) {
    const sum = bytes.subarray(-HASH_BYTES[algorithm]);
    if (sumOf(bytes.subarray(0, -sum.length), algorithm).equals(sum)) return algorithm;
  }
  const [short, long] = [bytes.subarray(-HASH_BYTES.sha1), bytes.subarray(-HASH_BYTES.sha256)];
  if (short.some((byte) => byte !== 0)) throw new RangeError("the index is damaged");
  return long.some((byte) => byte !== 0) ? "sha1" : "sha256";
}

function parseEntry(
  { bytes, version, algorithm }: Pick<GitIndex, "bytes" | "version" | "algorithm">,
  from: number,
  before: Buffer,
): { readonly entry: IndexEntry; readonly name: Buffer; readonly stage: number } {
  const field = (index: number): number => bytes.readUInt32BE(from + 4 * index);
  const flagsAt = from + STAMP_BYTES + HASH_BYTES[algorithm];
  const flags = bytes.readUInt16BE(flagsAt);
  const isExtended = (flags & FLAGS.extended) !== 0;
  const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0;
  const at = flagsAt + (isExtended ? 4 : 2);
  const { kept, begin } = version === 4 ? readStripped(bytes, at, before.length) : { kept: 0, begin: at };
  const nameEnd = bytes.indexOf(0, begin);
  if (nameEnd === -1) throw new RangeError("the index is cut off");
  const name = Buffer.concat([before.subarray(0, kept), bytes.subarray(begin, nameEnd)]);
  // Before version 4, one to eight zeros fill an entry up.
  const to = version === 4 ? nameEnd + 1 : from + paddedSize(nameEnd - from);
  const seen: FileStamp = {
    changed: [field(0), field(1)],
    modified: [field(2), field(3)],
    inode: field(5),
    size: field(9),
  };
  const entry: IndexEntry = {
    path: name.toString("utf8"),
    mode: field(6),
    hash: bytes.toString("hex", from + STAMP_BYTES, flagsAt),
    seen,
    isConflict: (flags & FLAGS.stage) !== 0,
    isLeftAlone: (flags & FLAGS.valid) !== 0 || (more & SKIP_WORK_TREE) !== 0,
    place: { from, name: at, nameEnd, to },
  };
  return { entry, name, stage: flags & FLAGS.stage };
}

/** How much of the name before an entry of version 4 keeps, and where the rest of its own name begins. */
function readStripped(bytes: Buffer, at: number, length: number): { readonly kept: number; readonly begin: number } {
  let next = at;
  let byte = bytes.readUInt8(next++);
  let stripped = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes.readUInt8(next++);
    stripped = (stripped + 1) * 0x80 + (byte & 0x7f);
  }
  if (stripped > length) throw new RangeError("the index is damaged");
  return { kept: length - stripped, begin: next };
}

const paddedSize = (bytes: number): number => (bytes + 8) & ~7;

/** An index that says of some entries that they are not in the work tree, so that git takes them as unchanged. */
export function skipEntries(index: GitIndex, skipped: readonly IndexEntry[]): Buffer {
  const { bytes, version, algorithm, entriesEnd } = index;
  const header = Buffer.from(bytes.subarray(0, HEADER_BYTES));
  // Version 2 has no further flags.
  header.writeUInt32BE(Math.max(version, 3), 4);
  const parts: Buffer[] = [header];
  let from = HEADER_BYTES;
  for (const entry of skipped) {
    parts.push(bytes.subarray(from, entry.place.from), skippedEntry(index, entry));
    from = entry.place.to;
  }
  parts.push(bytes.subarray(from, entriesEnd), ...keptExtensions(index));
  const body = Buffer.concat(parts);
  return Buffer.concat([body, sumOf(body, algorithm)]);
}

/** In a sparse checkout git forgets that bit for files that are there, so that the entry is also never compared. */
function skippedEntry({ bytes, version, algorithm }: GitIndex, { place }: IndexEntry): Buffer {
  const flagsAt = place.from + STAMP_BYTES + HASH_BYTES[algorithm];
  const flags = Buffer.alloc(4);
  flags.writeUInt16BE(bytes.readUInt16BE(flagsAt) | FLAGS.extended | FLAGS.valid, 0);
  flags.writeUInt16BE((place.name === flagsAt + 4 ? bytes.readUInt16BE(flagsAt + 2) : 0) | SKIP_WORK_TREE, 2);
  const entry = Buffer.concat([
    bytes.subarray(place.from, flagsAt),
    flags,
    bytes.subarray(place.name, place.nameEnd),
    Buffer.alloc(1),
  ]);
  return version === 4 ? entry : Buffer.concat([entry], paddedSize(entry.length - 1));
}

function keptExtensions({ bytes, algorithm, entriesEnd }: GitIndex): readonly Buffer[] {
  const end = bytes.length - HASH_BYTES[algorithm];
  const kept: Buffer[] = [];
  for (let at = entriesEnd; at < end;) {
    const next = at + 8 + bytes.readUInt32BE(at + 4);
    if (!OFFSETS.has(bytes.toString("latin1", at, at + 4))) kept.push(bytes.subarray(at, Math.min(next, end)));
    at = next;
  }
  return kept;
}

function sumOf(bytes: Uint8Array, algorithm: HashAlgorithm): Buffer {
  return createHash(algorithm).update(bytes).digest();
}
