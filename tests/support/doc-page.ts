import { basename } from "node:path";

/** One block of code of a page, and the lines that the page shows as its output. */
export interface DocBlock {
  readonly language: string;
  /** The word behind the language: `host` for another machine, `elsewhere` for what a test of its own runs. */
  readonly place: string;
  readonly text: string;
  readonly shown: readonly string[];
  /** Line of the page on which it begins. */
  readonly line: number;
}

const FENCE = /^```(\w+)?(?: (\w+))?\n([^]*?)^```$/gm;

/** The blocks of a page in order. A block of `text` right behind another one is what that one prints. */
export function blocksOf(page: string): readonly DocBlock[] {
  const blocks: (DocBlock & { readonly end: number })[] = [];
  for (const match of page.matchAll(FENCE)) {
    const [whole, language = "", place = "", text = ""] = match;
    const before = blocks.at(-1);
    const isOutput = language === "text" && before !== undefined && page.slice(before.end, match.index).trim() === "";
    if (isOutput)
      blocks[blocks.length - 1] = { ...before, shown: text.split("\n").filter((line) => line.trim() !== "") };
    else {
      const line = page.slice(0, match.index).split("\n").length;
      blocks.push({ language, place, text, shown: [], line, end: match.index + whole.length });
    }
  }
  return blocks;
}

/**
 * A script that runs the blocks of a page one after the other in one shell, and writes the output of the block with
 * index N to `$OUTPUT/<page>-N`. A block for another machine gets the line that the block before it has printed.
 */
export function scriptOf(path: string, blocks: readonly DocBlock[]): string {
  const name = basename(path, ".md");
  const steps = blocks.map((block, index) => {
    const output = `"$OUTPUT/${name}-${index}"`;
    return `printf '${name}, line ${block.line}\\n' > "$OUTPUT/last"\n{\n${commandOf(block, name, `$OUTPUT/${name}-${index - 1}`)}\n} > ${output} 2>&1`;
  });
  return ["set -e", ...steps, ""].join("\n");
}

function commandOf({ language, place, text }: DocBlock, name: string, before: string): string {
  if (place === "elsewhere" || language === "json" || language === "text" || language === "") return ":";
  if (place === "host") {
    const [, more = ""] = /southbound(.*)/.exec(text) ?? [];
    return `(export HOME="$HOST_HOME/${name}"; mkdir "$HOME"; cd "$HOME"; eval "$(grep ^VIDRO_INVITATION= "${before}")${more}")`;
  }
  return language === "js"
    ? `"$NODE" --conditions=vidro-source --input-type=module <<'END_OF_BLOCK'\n${text}END_OF_BLOCK`
    : text;
}
