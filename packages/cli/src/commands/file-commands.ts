import { COMMAND_FILE_LIMITS, hiddenCharacters } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import { EXIT } from "../program/exit-codes.ts";
import { print, say, writeJson } from "../program/output.ts";
import { requireFolder } from "../program/require-folder.ts";
import { paint } from "../view/symbols.ts";
import { readFileCommands } from "./talk/command-files.ts";

const NAME_CHARS = 24;
const SOURCE_CHARS = 8;

/** Lists the commands from files that a conversation in this folder has. */
export async function listFileCommands(flags: { readonly json?: boolean }): Promise<number> {
  const found = readFileCommands(requireFolder("."));
  if (flags.json === true)
    for (const { body, ...command } of found) writeJson({ ...command, hidden: hiddenCharacters(body) ?? null });
  else if (found.length === 0)
    say("There is no command: put a Markdown file into commands of the home or .agents/commands.");
  else {
    const heading = ["COMMAND".padEnd(NAME_CHARS), "OF".padEnd(SOURCE_CHARS), "DESCRIPTION"].join("  ");
    print(
      paint("dim", heading),
      ...found.map(({ name, source, description, hint = "", body }) => {
        const shown = `/${name}${hint === "" ? "" : ` ${hint}`}`;
        const warning =
          hiddenCharacters(body) === undefined ? "" : " [not used: it holds characters that cannot be seen]";
        const row = [oneLine(shown, COMMAND_FILE_LIMITS.hintChars).padEnd(NAME_CHARS), source.padEnd(SOURCE_CHARS)];
        return [...row, `${description}${warning}`].join("  ");
      }),
    );
  }
  return EXIT.ok;
}
