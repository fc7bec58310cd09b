import { readdirSync } from "node:fs";
import { ROOT } from "./setup.js";

/**
 * Every test of the repository, by its path from the root, in order.
 * @returns {string[]}
 */
export function testFiles() {
  return ["packages", "tests"]
    .flatMap((folder) =>
      readdirSync(`${ROOT}${folder}`, { recursive: true }).map((path) => `${folder}/${String(path)}`),
    )
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .sort();
}
