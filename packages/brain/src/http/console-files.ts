import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { isObject } from "@vidro/core";
import type { ConsoleFile, ConsoleFiles } from "./console-file.ts";

/** Where the built console lies: in a clone, in a package of npm, in an archive. The first one that is there counts. */
const FOLDERS = ["../../../console/dist", "../console", "../../share/vidro/console"].map((path) =>
  join(import.meta.dirname, path),
);

const TYPES: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const QUALITY = 9;

/** The files of the built console. A file is read and compressed at its first use; the page itself is read each time. */
export function openConsoleFiles(folders: readonly string[] = FOLDERS): ConsoleFiles {
  const kept = new Map<string, ConsoleFile>();
  return async (path) => {
    // Names only, so that no path leads out of the folder.
    if (!/^(?:index\.html|assets\/[\w-]+\.\w+|docs\/(?:[\w-]+\/)?[\w-]+\.html)$/.test(path)) return undefined;
    const bytes = kept.has(path) ? undefined : await readFirst(folders, path);
    if (bytes === undefined) return kept.get(path);
    const file = await packFile(path, bytes);
    if (path !== "index.html") kept.set(path, file);
    return file;
  };
}

async function packFile(path: string, bytes: Buffer): Promise<ConsoleFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
  return {
    type: TYPES[extname(path)] ?? "application/octet-stream",
    bytes,
    brotli: await promisify(brotliCompress)(bytes, { params }),
    etag: `"${createHash("sha256").update(bytes).digest("base64url")}"`,
  };
}

async function readFirst(folders: readonly string[], path: string): Promise<Buffer | undefined> {
  for (const folder of folders) {
    try {
      return await readFile(join(folder, path));
    } catch (thrown) {
      if (!isObject(thrown) || thrown["code"] !== "ENOENT") throw thrown;
    }
  }
  return undefined;
}
