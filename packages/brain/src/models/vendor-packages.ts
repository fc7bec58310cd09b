import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Fault, WORKER_LIMITS } from "@vidro/core";
import lockfile from "../../vendors/package-lock.json" with { type: "json" };
import manifest from "../../vendors/package.json" with { type: "json" };

/*
 * The packages of vendors whose wire no other package speaks: 51 MB together, installed as the lockfile names them when
 * a model of one of these vendors is first used.
 */

/** One of the packages. */
export type VendorPackage = keyof typeof manifest.dependencies;

const NPM = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/**
 * Loads a package from its folder, and installs the packages there when they are missing. MODEL_UNAVAILABLE says why
 * that cannot be.
 */
export async function loadVendorPackage<Module>(name: VendorPackage, folder: string): Promise<Module> {
  if (!isThere(name, folder)) await installOnce(name, folder);
  const { resolve } = createRequire(join(folder, "package.json"));
  return (await import(pathToFileURL(resolve(name)).href)) as Module;
}

/** Installations that this process has under way, by their folders. */
const installing = new Map<string, Promise<void>>();

function installOnce(name: VendorPackage, folder: string): Promise<void> {
  const known = installing.get(folder);
  if (known !== undefined) return known;
  const installation = installPackages(name, folder).finally(() => installing.delete(folder));
  installing.set(folder, installation);
  return installation;
}

/** Whether the package of this version is in the folder. */
function isThere(name: VendorPackage, folder: string): boolean {
  const place = join(folder, "node_modules", name, "package.json");
  if (!existsSync(place)) return false;
  const { version } = createRequire(place)("./package.json") as { readonly version: string };
  return version === manifest.dependencies[name];
}

/** Installs all packages; they appear in the folder whole or not at all, also when several processes install at once. */
async function installPackages(name: VendorPackage, folder: string): Promise<void> {
  const making = `${folder}.${process.pid}`;
  try {
    await mkdir(making, { recursive: true, mode: 0o700 });
    await writeFile(join(making, "package.json"), JSON.stringify(manifest));
    await writeFile(join(making, "package-lock.json"), JSON.stringify(lockfile));
    await runNpm(making);
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    await rm(folder, { recursive: true, force: true });
    await rename(making, folder).catch((thrown: unknown) => {
      // Another process was quicker.
      if (!isThere(name, folder)) throw thrown;
    });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const how = "It needs npm and its registry once; on a machine without them, copy the folder from one that has it";
    throw new Fault("MODEL_UNAVAILABLE", `${name} cannot be installed: ${why.trim()}. ${how}: ${folder}`);
  } finally {
    await rm(making, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function runNpm(cwd: string): Promise<void> {
  const npm = spawn("npm", NPM, {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: WORKER_LIMITS.installMs,
    shell: process.platform === "win32",
  });
  let said = "";
  npm.stderr.setEncoding("utf8").on("data", (chunk) => {
    said = `${said}${String(chunk)}`.slice(-WORKER_LIMITS.errorChars);
  });
  const [code] = (await once(npm, "close")) as [number | null];
  if (code !== 0) throw new Error(said.trim() === "" ? `npm ended with ${code ?? "a signal"}` : said);
}
