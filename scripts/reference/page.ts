/** A page with its title, where its content comes from, and its parts. */
export function page(title: string, source: string, parts: readonly string[]): string {
  return [`# ${title}`, `Made by \`npm run reference\` from ${source}.`, ...parts].join("\n\n");
}

/** A table in Markdown; a bar inside of a cell would end the cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}
