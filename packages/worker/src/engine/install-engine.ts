import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, WORKER_LIMITS } from "@vidro/core";
import lockfile from "../../engine/package-lock.json" with { type: "json" };
import manifest from "../../engine/package.json" with { type: "json" };

/* The engine is node-llama-cpp with the binary of one platform: 83 MB, installed when the first worker starts. */

/** Binaries of the engine by platform and processor; each computes on the processor, or on Apple's own GPU. */
const BINARIES: { readonly [platform: string]: string } = {
  "linux-x64": "@node-llama-cpp/linux-x64",
  "linux-arm64": "@node-llama-cpp/linux-arm64",
  "darwin-arm64": "@node-llama-cpp/mac-arm64-metal",
  "darwin-x64": "@node-llama-cpp/mac-x64",
  "win32-x64": "@node-llama-cpp/win-x64",
};

/** Whether the engine of this version is in a folder. */
export function isEngineThere(folder: string): boolean {
  return existsSync(join(folder, "node_modules/node-llama-cpp/package.json"));
}

/**
 * Installs the engine into a folder, with what the lockfile names; no script of a package is run. It appears there
 * whole or not at all, also when several processes install it at once. MODEL_UNAVAILABLE says why it cannot be.
 */
export async function installEngine(folder: string): Promise<void> {
  if (isEngineThere(folder)) return;
  const making = `${folder}.${process.pid}`;
  try {
    await mkdir(making, { recursive: true, mode: 0o700 });
    const [root, lock] = platformFiles(`${process.platform}-${process.arch}`);
    await writeFile(join(making, "package.json"), JSON.stringify(root));
    await writeFile(join(making, "package-lock.json"), JSON.stringify(lock));
    await runNpm(making);
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    await rename(making, folder).catch((thrown: unknown) => {
      // Another process was quicker.
      if (!isEngineThere(folder)) throw thrown;
    });
  } catch (thrown) {
    throw thrown instanceof Fault ? thrown : cannotInstall(thrown instanceof Error ? thrown.message : String(thrown));
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** The manifest and the lockfile with the binary of a platform in the place of the one that they were made with. */
function platformFiles(platform: string): readonly [object, object] {
  const binary = BINARIES[platform];
  if (binary === undefined) throw cannotInstall(`there is no binary for ${platform}`);
  const dependencies = {
    [binary]: manifest.dependencies["node-llama-cpp"],
    "node-llama-cpp": manifest.dependencies["node-llama-cpp"],
  };
  const packages: { [place: string]: object } = { ...lockfile.packages };
  const { optional, ...entry } = packages[`node_modules/${binary}`] as { readonly optional?: true };
  packages[""] = { ...lockfile.packages[""], dependencies };
  packages[`node_modules/${binary}`] = entry;
  const wasMadeWith = BINARIES["linux-x64"] ?? "";
  if (binary !== wasMadeWith && optional === true)
    packages[`node_modules/${wasMadeWith}`] = { ...packages[`node_modules/${wasMadeWith}`], optional: true };
  return [
    { ...manifest, dependencies },
    { ...lockfile, packages },
  ];
}

const NPM = ["ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

async function runNpm(folder: string): Promise<void> {
  const npm = spawn("npm", NPM, {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: WORKER_LIMITS.installMs,
    shell: process.platform === "win32",
  });
  let said = "";
  npm.stderr.setEncoding("utf8").on("data", (chunk) => {
    said = `${said}${String(chunk)}`.slice(-WORKER_LIMITS.errorChars);
  });
  const [code] = (await once(npm, "close")) as [number | null];
  if (code !== 0) throw cannotInstall(said.trim() === "" ? `npm ended with ${code ?? "a signal"}` : said.trim());
}

function cannotInstall(why: string): Fault {
  const how = "It needs npm and its registry once; on a machine without them, copy the folder from one that has it.";
  return new Fault("MODEL_UNAVAILABLE", `The engine of the worker cannot be installed: ${why}. ${how}`);
}
