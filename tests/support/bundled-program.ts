import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

/*
 * Programs as a few files of JavaScript: tests that start them hundreds of times spend their time on what they test,
 * not on loading sources.
 */

const ROOT = resolve(import.meta.dirname, "../..");

/** Bundles `vidro` into a folder laid out as the archive is; gives the path of the command. */
export function bundleVidro(folder: string): string {
  execFileSync(process.execPath, [join(ROOT, "scripts/package/bundle.js"), join(folder, "lib/vidro")]);
  cpSync(join(ROOT, "packages/brain/agents"), join(folder, "agents"), { recursive: true });
  for (const part of ["bin", "node/bin"]) mkdirSync(join(folder, part), { recursive: true });
  symlinkSync(process.execPath, join(folder, "node/bin/node"));
  copyFileSync(join(ROOT, "packages/cli/bin/vidro"), join(folder, "bin/vidro"));
  return join(folder, "bin/vidro");
}

/** Bundles a program of the tests into a folder; gives the path of its file. */
export async function bundleProgram(source: string, folder: string): Promise<string> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: { program: source },
    platform: "node",
    resolve: { conditionNames: ["vidro-source", "node", "import"] },
    external: [/^node:/],
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
  return join(folder, "program.mjs");
}
