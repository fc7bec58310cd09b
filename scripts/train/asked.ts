import { readdirSync, readFileSync } from "node:fs";
import { ROOT } from "../setup.js";

const FOLDER = `${ROOT}tests/unseen/`;

/** A text without what makes no difference to a question. */
function bareText(text: string): string {
  return text
    .toLowerCase()
    .replace(/[¿?.!]/g, "")
    .trim();
}

const asked: ReadonlySet<string> = new Set(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(".txt"))
    .flatMap((name) => readFileSync(FOLDER + name, "utf8").split("\n"))
    .filter((line) => line.includes(" => "))
    .map((line) => bareText(line.split(" => ")[0]?.split(" >> ").at(-1) ?? "")),
);

/** Whether a text is a question of the sets that judge the model: none of them is ever taught. */
export function isAsked(text: string): boolean {
  return asked.has(bareText(text));
}
