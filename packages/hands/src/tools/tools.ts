import { applyPatchTool } from "./apply-patch.ts";
import { commandTool } from "./command.ts";
import { editTool } from "./edit.ts";
import { fileApplyTool } from "./file-apply.ts";
import { fileDiffTool } from "./file-diff.ts";
import { findFilesTool } from "./find-files.ts";
import { osInfoTool } from "./os-info.ts";
import { processesTool } from "./processes.ts";
import { readOutputTool } from "./read-output.ts";
import { readFileTool } from "./read-file.ts";
import { readFolderTool } from "./read-folder.ts";
import { searchTextTool } from "./search-text.ts";
import { shellTool } from "./shell.ts";
import { startedProcessesTool } from "./started-processes.ts";
import { startProcessTool } from "./start-process.ts";
import { stopProcessTool } from "./stop-process.ts";
import type { HandTool } from "./tool.ts";
import { undoTool } from "./undo.ts";
import { webFetchTool } from "./web-fetch.ts";
import { workingDirectoryTool } from "./working-directory.ts";
import { writeInputTool } from "./write-input.ts";
import { writeFileTool } from "./write-file.ts";

/** Every tool of a hand: one file and one line here adds one. */
export const TOOLS: readonly HandTool[] = [
  shellTool,
  commandTool,
  workingDirectoryTool,
  readFolderTool,
  readFileTool,
  writeFileTool,
  editTool,
  findFilesTool,
  searchTextTool,
  fileDiffTool,
  fileApplyTool,
  applyPatchTool,
  undoTool,
  osInfoTool,
  processesTool,
  webFetchTool,
  startProcessTool,
  readOutputTool,
  writeInputTool,
  stopProcessTool,
  startedProcessesTool,
];
