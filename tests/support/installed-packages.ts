import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/* The packages as they are published: packed, and installed into an empty project by npm. */

const ROOT = resolve(import.meta.dirname, "../..");
const PACKAGES = ["core", "aon", "client", "hands", "worker", "brain", "cli"] as const;

/** Where the programs of others lie that are used with the packages. */
export const PEERS = join(ROOT, "tests/node_modules");

/** A package as npm packed it. */
export interface PackedPackage {
  /** The path of its archive. */
  readonly archive: string;
  /** Bytes of the archive. */
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** What a program printed and how it ended. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An empty project with every package installed from its archive. */
export class InstalledPackages implements AsyncDisposable {
  readonly folder: string;
  readonly packed: readonly PackedPackage[];

  private constructor(folder: string, packed: readonly PackedPackage[]) {
    this.folder = folder;
    this.packed = packed;
  }

  static async install(): Promise<InstalledPackages> {
    const folder = mkdtempSync(join(tmpdir(), "vidro-packages-"));
    const archives = join(folder, "archives");
    mkdirSync(archives);
    for (const name of PACKAGES) {
      const words = ["pack", "--silent", "--pack-destination", archives];
      const { code, stderr } = await runProgram("npm", words, { cwd: join(ROOT, "packages", name) });
      if (code !== 0) throw new Error(`npm pack failed:\n${stderr}`);
    }
    const packed = await Promise.all(readdirSync(archives).map((name) => readArchive(join(archives, name))));
    const project = join(folder, "project");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{ "name": "empty", "private": true, "type": "module" }\n');
    const files = packed.map(({ archive }) => archive);
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    const { code, stderr } = await runProgram("npm", ["install", ...quiet, ...files], { cwd: project });
    if (code !== 0) throw new Error(`npm install failed:\n${stderr}`);
    return new InstalledPackages(folder, packed);
  }

  /** The project that the packages are installed in. */
  get project(): string {
    return join(this.folder, "project");
  }

  /** The path of a command that a package brings. */
  bin(name: string): string {
    return join(this.project, "node_modules/.bin", name);
  }

  /** Writes a file of the project and gives its path. */
  write(name: string, text: string): string {
    const path = join(this.project, name);
    writeFileSync(path, text);
    return path;
  }

  /** An environment without anything of the repository. */
  get env(): NodeJS.ProcessEnv {
    const home = join(this.folder, "home");
    return { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, VIDRO_HOME: join(home, "vidro"), LANG: "C.UTF-8" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What is in an archive, as tar lists it. */
async function readArchive(archive: string): Promise<PackedPackage> {
  const { stdout } = await runProgram("tar", ["-tvzf", archive], { cwd: tmpdir() });
  const files = stdout
    .trim()
    .split("\n")
    .map((line) => {
      const [, , size, , , path = ""] = line.split(/\s+/);
      return { path: path.replace(/^package\//, ""), size: Number(size) };
    });
  return { archive, size: statSync(archive).size, files };
}

/** Runs a program to its end. */
export async function runProgram(
  program: string,
  words: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<ProgramResult> {
  const maxBuffer = 64 * 1024 * 1024;
  try {
    return { code: 0, ...(await promisify(execFile)(program, words, { ...options, maxBuffer })) };
  } catch (thrown) {
    const { code, stdout, stderr } = thrown as { code: unknown; stdout?: string; stderr?: string };
    if (typeof code !== "number") throw thrown;
    return { code, stdout: stdout ?? "", stderr: stderr ?? "" };
  }
}
