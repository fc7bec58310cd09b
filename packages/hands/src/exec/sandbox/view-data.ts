/** Bytes that lie at a path of a view in the place of the host's file. */
export interface ViewData {
  readonly at: string;
  readonly bytes: Uint8Array;
  /** A hash of the bytes. */
  readonly id: string;
  /** Rights of the file, in octal digits. */
  readonly rights: string;
  /** The time of its last change to be told, in seconds since 1970. */
  readonly seconds?: number;
}
