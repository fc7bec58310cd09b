import { readFileSync } from "node:fs";
import { ROOT } from "../setup.js";
import { page, table } from "./page.ts";

const SOURCE = "packages/core/src/event.ts";

/** Every event of a run: what it says, and its fields. */
export function eventPage(): string {
  const text = readFileSync(ROOT + SOURCE, "utf8");
  const all = [...text.matchAll(/\/\*\* ([^]*?)\*\/\nexport interface \w+ \{\n([^]*?)\n\}/g)].flatMap(
    ([, about = "", body = ""]) => {
      const [, type] = /readonly type: "([\w.]+)";/.exec(body) ?? [];
      return type === undefined ? [] : [{ type, about: words(about), body }];
    },
  );
  const isLive = ({ about }: { readonly about: string }): boolean => about.startsWith("Live: ");
  return page("Events", `\`${SOURCE}\``, [
    "A durable event is an entry `{seq, at, event}` of the journal: `seq` counts from 1 without a gap, `at` is in milliseconds since the epoch. A live event is sent to those who watch, and is not kept.",
    ...all.filter((event) => !isLive(event)).map(part),
    ...all.filter(isLive).map(part),
  ]);
}

function part({ type, about, body }: { readonly type: string; readonly about: string; readonly body: string }): string {
  const fields = [...body.matchAll(/(?:\/\*\* ([^]*?)\*\/\s*)?readonly (\w+)(\?)?: ([^;]+);/g)].flatMap(
    ([, meaning = "", name = "", optional, kind = ""]) =>
      name === "type"
        ? []
        : [
            [
              `\`${name}\``,
              `\`${words(kind)}\``,
              `${words(meaning)}${optional === undefined ? "" : " (optional)"}`.trim(),
            ],
          ],
  );
  const list = fields.length === 0 ? "" : `\n\n${table(["field", "type", "meaning"], fields)}`;
  return `## ${type}\n\n${about}${list}`;
}

function words(comment: string): string {
  return comment.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim();
}
