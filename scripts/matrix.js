// npm run matrix: writes docs/specs/matrix.md, which row of the five contracts is shown by which test, from the titles
// of the tests. A row without a test is seen at once.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { ROOT } from "./setup.js";
import { testFiles } from "./test-files.js";

/** How many rows each contract has. */
const ROWS = { "000": 67, "001": 32, "002": 52, "003": 20, "004": 26 };
const CONTRACTS = {
  "000": "FazAI SPEC",
  "001": "AON",
  "002": "TCP agent protocol",
  "003": "Front-end contract",
  "004": "Flows",
};

/** @type {Map<string, string[]>} */
const shown = new Map();
for (const path of testFiles()) {
  const text = readFileSync(`${ROOT}${path}`, "utf8");
  // A title is the first text of whatever runs it: test, it, or a function of the file's own.
  for (const [, title = ""] of text.matchAll(/^\s*(?:void )?\w+\(\s*["'`](.*?\b00[0-4]-\d\d\b.*?)["'`],/gm)) {
    for (const [row] of title.matchAll(/\b00[0-4]-\d\d\b/g))
      shown.set(row, [...(shown.get(row) ?? []), `${path}: ${title}`]);
  }
}

const parts = Object.entries(ROWS).map(([contract, count]) => {
  const rows = Array.from({ length: count }, (_, index) => `${contract}-${String(index + 1).padStart(2, "0")}`);
  const lines = rows.map((row) => `| ${row} | ${(shown.get(row) ?? [""]).join("<br>")} |`);
  const title = /** @type {Record<string, string>} */ (CONTRACTS)[contract];
  const done = rows.filter((row) => shown.has(row)).length;
  return `## ${contract} ${title}: ${done} of ${count}\n\n| row | shown by |\n|---|---|\n${lines.join("\n")}\n`;
});
mkdirSync(`${ROOT}docs/specs`, { recursive: true });
writeFileSync(
  `${ROOT}docs/specs/matrix.md`,
  `# Rows of the five contracts, and the tests that show them\n\nMade by \`npm run matrix\` from the titles of the tests.\n\n${parts.join("\n")}`,
);
