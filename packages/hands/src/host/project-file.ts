import { realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import { isWithin } from "../files/is-within.ts";
import type { HandContext } from "../tools/tool.ts";

/** A file that may be a guide, the root of its project, and how much of it is read. */
interface GuidePlace {
  readonly path: string;
  readonly root: string;
  readonly bytes: number;
}

/** The beginning of a guide, where policy lets a model read such a file of the project. */
export async function readGuide(
  { path, root, bytes }: GuidePlace,
  { judge }: HandContext,
): Promise<string | undefined> {
  const real = realpathSync.native(path);
  // The whole repository is the project, also when the workspace is a folder in it.
  const plan = { kind: "file", operation: "read", path: real, inWorkspace: true } as const;
  if (!isWithin(root, real) || judge(plan).decision !== "allow") return undefined;
  const file = await open(real);
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes + 1), 0, bytes + 1);
    const text = buffer.subarray(0, Math.min(bytesRead, bytes)).toString("utf8");
    return bytesRead > bytes ? `${text}\n[The rest is left out: read the file.]` : text;
  } finally {
    await file.close();
  }
}
