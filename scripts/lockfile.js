import { readFileSync } from "node:fs";

/**
 * Ends the process when a lockfile would break `npm ci` on some machine (a platform package that an entry wants is
 * missing), names the host it was made against, holds a package without integrity, or one that runs a script at install.
 * @param {string} path
 * @param {string[]} [mayRunScripts] packages that may name such a script: it is never run
 */
export function checkLockfile(path, mayRunScripts = []) {
  /** @type {{ packages: Record<string, { optionalDependencies?: Record<string, string>, resolved?: string, link?: boolean, integrity?: string, hasInstallScript?: boolean }> }} */
  const { packages } = JSON.parse(readFileSync(path, "utf8"));
  const name = (/** @type {string} */ place) =>
    place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
  const present = new Set(Object.keys(packages).map((place) => name(place)));
  const wrong = Object.entries(packages).flatMap(([place, entry]) => {
    const installed = place.includes("node_modules/") && entry.link !== true;
    return [
      ...Object.keys(entry.optionalDependencies ?? {})
        .filter((wanted) => !present.has(wanted))
        .map((wanted) => `${place || "the root"} wants ${wanted}, which is not in it`),
      ...(entry.resolved !== undefined && entry.link !== true ? [`${place} names where it was downloaded from`] : []),
      ...(installed && entry.integrity === undefined ? [`${place} has no integrity`] : []),
      ...(entry.hasInstallScript === true && !mayRunScripts.includes(name(place))
        ? [`${place} runs a script at install`]
        : []),
    ];
  });
  if (wrong.length === 0) return;
  process.stderr.write(`${path}:\n${wrong.map((line) => `  ${line}\n`).join("")}`);
  process.exit(1);
}
