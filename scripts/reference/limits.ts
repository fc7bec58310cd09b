import { globSync, readFileSync } from "node:fs";
import * as core from "@vidro/core";
import { ROOT } from "../setup.js";
import { page, table } from "./page.ts";

const FOLDER = "packages/core/src/limits/";

/** Every bound by its group: its value, and what it bounds. */
export function limitPage(): string {
  const parts = globSync(`${FOLDER}*.ts`, { cwd: ROOT }).toSorted().flatMap(groupsIn);
  return page("Limits", `\`${FOLDER}\``, [
    "Names that end in Ms are in milliseconds, in Bytes and Chars in bytes and characters. A number in brackets is the clause of a contract that asks for the bound.",
    ...parts,
  ]);
}

function groupsIn(path: string): readonly string[] {
  const text = readFileSync(ROOT + path, "utf8");
  return [...text.matchAll(/\/\*\* ([^]*?)\*\/\nexport const ([A-Z_]+) = \{\n([^]*?)\n\}/g)].map(
    ([, about = "", group = "", body = ""]) => {
      const values = (core as unknown as Record<string, Record<string, unknown>>)[group] ?? {};
      const rows = [...body.matchAll(/ {2}\/\*\* ([^]*?)\*\/\n {2}(\w+):/g)].map(([, meaning = "", name = ""]) => [
        `\`${name}\``,
        shown(values[name]),
        words(meaning),
      ]);
      return `## ${group}\n\n${words(about)}\n\n${table(["name", "value", "what it bounds"], rows)}`;
    },
  );
}

function words(comment: string): string {
  return comment.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim();
}

function shown(value: unknown): string {
  return typeof value === "number" ? value.toLocaleString("en") : JSON.stringify(value);
}
