import { has, strangers } from "./sentence.ts";
import type { Sentence } from "./sentence.ts";
import type { Want } from "./want.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const RUN_VERBS = words(
  "run execute exec launch rode roda rodar execute executa executar rodem ejecuta ejecutar ejecute corre corra correr lanza",
);

const RUN_COMPANIONS = words(
  `command commands following shell terminal program script comando comandos seguinte seguintes siguiente siguientes
   programa first next finally after primeiro depois primero luego despues then these estes estos tests testes pruebas output
   saida salida result resultado`,
);

/** The commands in quotes behind a verb such as "run", in their order. */
export function wantsToRun(sentence: Sentence): readonly Want[] {
  const quoted = sentence.operands.filter((operand) => operand.quoted);
  if (quoted.length === 0 || !has(sentence, RUN_VERBS)) return [];
  const isOtherwise = strangers(sentence, [RUN_VERBS, RUN_COMPANIONS]) > 0;
  return isOtherwise ? [] : quoted.map((operand) => ({ kind: "run", command: operand.text.trim() }));
}

/** How a command line is carried out: as a program with arguments, or by a shell where it needs one. */
type CommandLine =
  | { readonly by: "program"; readonly program: string; readonly args: readonly string[] }
  | { readonly by: "shell"; readonly line: string };

const SHELL_SIGNS = /[|<>&;$`*?~\n\r()[\]{}!#\\]/;
const SHELL_WORDS = words(
  "cd export source . alias unalias set unset ulimit umask eval exec type trap if for while until case",
);

/** Reads a command line: plain words and simple quotes are a program's, anything else is the shell's. */
export function readCommand(line: string): CommandLine {
  const pieces = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const isPlain = !SHELL_SIGNS.test(line) && pieces.join(" ") === line.trim().split(/\s+/).join(" ");
  const [program = "", ...args] = pieces.map((piece) => piece.replace(/^(["'])(.*)\1$/s, "$2"));
  if (!isPlain || program === "" || program.includes("=") || SHELL_WORDS.has(program)) return { by: "shell", line };
  return { by: "program", program, args };
}
