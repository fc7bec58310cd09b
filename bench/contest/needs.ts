import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A program of others that a figure, or one of those who take part in it, runs. */
export interface Need {
  readonly name: string;
  isHere(): boolean;
}

/** PostgreSQL, as the tests start it. */
export const POSTGRES: Need = { name: "PostgreSQL", isHere: () => existsSync("/usr/lib/postgresql") };

/** Redis, found in PATH. */
export const REDIS: Need = { name: "redis-server", isHere: () => isInPath("redis-server") };

/** Chromium, as the tests start it. */
export const CHROMIUM: Need = { name: "Chromium", isHere: () => existsSync("/usr/bin/chromium") };

/** ripgrep, found in PATH. */
export const RIPGREP: Need = { name: "ripgrep", isHere: () => isInPath("rg") };

/** OpenSSH's server, where Debian and most others put it. */
export const SSHD_PATH = "/usr/sbin/sshd";

/** The server of OpenSSH. */
export const SSHD: Need = { name: "OpenSSH server", isHere: () => existsSync(SSHD_PATH) };

/** A package that bench/package.json or tests/package.json names. */
export function peerNeed(name: string, folder: "bench" | "tests" = "bench"): Need {
  const path = fileURLToPath(new URL(`../../${folder}/node_modules/${name}`, import.meta.url));
  return { name: `${name} (npm)`, isHere: () => existsSync(path) };
}

/** The names of those that this machine does not have. */
export function missingOf(needs: readonly Need[] = []): readonly string[] {
  return needs.filter((need) => !need.isHere()).map(({ name }) => name);
}

function isInPath(program: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => folder !== "" && existsSync(join(folder, program)));
}
