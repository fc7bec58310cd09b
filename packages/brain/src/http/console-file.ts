/** One file of the built console, ready to be sent. */
export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The same bytes, compressed with Brotli. */
  readonly brotli: Buffer;
  /** A strong validator: the hash of the bytes, in quotes. */
  readonly etag: string;
}

/** The built console, by the paths of its files; undefined for a file that is not there. */
export type ConsoleFiles = (path: string) => Promise<ConsoleFile | undefined>;
