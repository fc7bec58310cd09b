import { command } from "./command.ts";
import { edit } from "./edit.ts";
import { fileApply } from "./file-apply.ts";
import { fileDiff } from "./file-diff.ts";
import { findFiles } from "./find-files.ts";
import { osInfo } from "./os-info.ts";
import { processes } from "./processes.ts";
import { readFile } from "./read-file.ts";
import { readFolder } from "./read-folder.ts";
import { searchText } from "./search-text.ts";
import { shell } from "./shell.ts";
import type { Tool } from "./tool.ts";
import { workingDirectory } from "./working-directory.ts";
import { writeFile } from "./write-file.ts";

/** Every tool of a hand: one file and one line here adds one. */
export const TOOLS: readonly Tool[] = [
  shell,
  command,
  workingDirectory,
  readFolder,
  readFile,
  writeFile,
  edit,
  findFiles,
  searchText,
  fileDiff,
  fileApply,
  osInfo,
  processes,
];
