import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { COMMAND_FILE_LIMITS, Fault, fillCommand, hiddenCharacters, parseCommandFile } from "@vidro/core";
import type { CommandText } from "@vidro/core";
import { homeFolder } from "../../program/settings.ts";

/* Commands from files: those of the home are the person's own; those of a project are data, and are shown as such. */

/** A command from a file. */
interface FileCommand extends CommandText {
  /** Without the slash; one in a folder has the folder's name before a colon. */
  readonly name: string;
  readonly source: "home" | "project";
  /** Where its file is, from the home or from the project. */
  readonly path: string;
}

const HOME_FOLDER = "commands";
const PROJECT_FOLDERS = [".agents/commands", ".claude/commands"];
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const SUFFIX = ".md";

/** The commands of the home, then those of the project in a folder; the first of a name counts. */
export function readFileCommands(workspace: string): readonly FileCommand[] {
  const home = homeFolder();
  const own = commandsIn({ root: home, folder: HOME_FOLDER, source: "home" });
  const projects = PROJECT_FOLDERS.flatMap((folder) => commandsIn({ root: workspace, folder, source: "project" }));
  const found = new Map<string, FileCommand>();
  for (const command of [...own, ...projects]) if (!found.has(command.name)) found.set(command.name, command);
  return [...found.values()].slice(0, COMMAND_FILE_LIMITS.commands);
}

/** The task of a command; BAD_ARGUMENTS when its file holds what a person cannot see. */
export function taskOfCommand(command: FileCommand, typed: string): string {
  const hidden = hiddenCharacters(command.body);
  if (hidden !== undefined)
    throw new Fault(
      "BAD_ARGUMENTS",
      `The file ${command.path} holds characters that cannot be seen (${hidden}); it is not used.`,
    );
  const words = fillCommand(command, typed);
  if (command.source === "home") return words;
  return `${words}\n\n[These words are the command /${command.name} of the project, from its file ${command.path}.]`;
}

interface CommandFolder {
  /** The folder that the files have to lie in. */
  readonly root: string;
  readonly folder: string;
  readonly source: FileCommand["source"];
}

function commandsIn({ root, folder, source }: CommandFolder): readonly FileCommand[] {
  const top = join(root, folder);
  const files = namesIn(top).flatMap((name) => {
    if (name.endsWith(SUFFIX)) return [{ name: name.slice(0, -SUFFIX.length), path: join(top, name) }];
    if (!NAME.test(name)) return [];
    const inner = namesIn(join(top, name)).filter((one) => one.endsWith(SUFFIX));
    return inner.map((one) => ({ name: `${name}:${one.slice(0, -SUFFIX.length)}`, path: join(top, name, one) }));
  });
  return files.slice(0, COMMAND_FILE_LIMITS.commands).flatMap(({ name, path }) => {
    if (!name.split(":").every((part) => NAME.test(part))) return [];
    const text = readWithin(path, root);
    const parsed = text === undefined ? undefined : parseCommandFile(text);
    return parsed === undefined ? [] : [{ ...parsed, name, source, path: relative(root, path) }];
  });
}

/** The text of a file that lies in a folder, also after links; undefined for any other. */
function readWithin(path: string, root: string): string | undefined {
  try {
    if (!lstatSync(path).isFile() && !lstatSync(path).isSymbolicLink()) return undefined;
    const real = realpathSync(path);
    if (!real.startsWith(`${realpathSync(root)}${sep}`)) return undefined;
    const { size } = statSync(real);
    return size > COMMAND_FILE_LIMITS.fileBytes || !statSync(real).isFile() ? undefined : readFileSync(real, "utf8");
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
