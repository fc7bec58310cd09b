import type { ReactNode } from "react";
import { textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { translate } from "../words/translate.ts";
import { wholeText } from "./text.tsx";

/** Fields of the tools that change files, and what their lines are: taken out, put in, or lines of a patch. */
const FIELDS: { readonly [field: string]: "-" | "+" | "patch" } = {
  old_string: "-",
  new_string: "+",
  content: "+",
  patch: "patch",
};

/** The lines of a change of a file, and the fields of the input that they show; undefined when it has none. */
export function diffOf(
  input: JsonObject,
): { readonly lines: readonly string[]; readonly fields: readonly string[] } | undefined {
  const fields = Object.keys(FIELDS).filter((name) => typeof input[name] === "string");
  if (fields.length === 0) return undefined;
  const lines = fields.flatMap((name) => {
    const sign = FIELDS[name];
    const text = (textIn(input, name) ?? "").replace(/\n$/, "").split("\n");
    return sign === "patch" ? text : text.map((line) => `${sign}${line}`);
  });
  return { lines, fields };
}

/** Lines of a change, coloured by their sign. */
export function Diff({ lines }: { readonly lines: readonly string[] }): ReactNode {
  return (
    <div className="diff" tabIndex={0} role="group" aria-label={translate("The change")}>
      {lines.map((line, index) => (
        <div key={index} className={toneOf(line)}>
          <bdi>{wholeText(line) || " "}</bdi>
        </div>
      ))}
    </div>
  );
}

function toneOf(line: string): string {
  if (line.startsWith("@@") || line.startsWith("---") || line.startsWith("+++")) return "at";
  return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "";
}
