import { realpathSync } from "node:fs";
import { isWithin } from "../files/is-within.ts";
import { readFileStart } from "../files/regular-file.ts";
import type { HandContext } from "../tools/tool.ts";

/** A file that may be a guide, the root of its project, and how much of it is read. */
interface GuidePlace {
  readonly path: string;
  readonly root: string;
  readonly bytes: number;
}

/** The beginning of a guide, where policy lets a model read such a file of the project. */
export function readGuide({ path, root, bytes }: GuidePlace, { judge }: HandContext): string | undefined {
  const real = realPath(path);
  if (real === undefined) return undefined;
  // The whole repository is the project, also when the workspace is a folder in it.
  const plan = { kind: "file", operation: "read", path: real, inWorkspace: true } as const;
  if (!isWithin(root, real) || judge(plan).decision !== "allow") return undefined;
  const start = readFileStart(real, bytes);
  if (start === undefined) return undefined;
  const text = start.bytes.toString("utf8");
  return start.isCut ? `${text}\n[The rest is left out: read the file.]` : text;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
