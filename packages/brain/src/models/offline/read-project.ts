import { LEXICON } from "./classifier.ts";
import type { Reader } from "./read-programs.ts";
import { numbersIn, operands, says, unknownNames, withoutUndefined } from "./slots.ts";
import type { Token } from "./tokens.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const HOW = words(
  "how como command comando commands comandos type digito digitar escribo tecleo instructions way jeito forma manera",
);
const RUN = words(
  `run runs execute executed executes start started starts launch launched fire kick test rodo rodar roda rodam executo executar
   executa executam executados faco disparo disparar testo testar ejecuto ejecutar ejecuta ejecutan corro correr corren corre lanzo
   lanzar lanzan lanza paso pasar pruebo probar prueba hago use uses usa utiliza type digito escribo tecleo`,
);
const TESTS = words(
  "test tests testing suite specs spec teste testes testar testo testa prueba pruebas probar pruebo jest pytest vitest",
);
const BUILD = words(
  "build built builds compile compiled compilar compilo compila compilado compiles bundle package empacotar",
);

/** Tests that are run, unless a person asks how: "how are the tests run", "which command runs the tests". */
export const tested: Reader = (tokens, kind) => {
  const how = tokens.findIndex(({ plain }) => HOW.has(plain));
  const isHow = how >= 0 && (says(tokens.slice(how + 1), RUN) || /^com[ma]/.test(tokens[how]?.plain ?? ""));
  // "Run the tests and tell me how they do" is an order.
  const isOrder = how > 1 && RUN.has(tokens[0]?.plain ?? "");
  return isHow && !isOrder ? [{ kind: "start", text: "tests" }] : [{ kind }];
};

/** What is asked about a project's commands: how it is started, tested or built. */
export const started: Reader = (tokens, kind) => {
  if (says(tokens, TESTS)) return [{ kind, text: "tests" }];
  return [{ kind, ...(says(tokens, BUILD) ? { text: "build" } : {}) }];
};

/** The package of a project that is asked about, else all. */
export const depended: Reader = (tokens, kind) => {
  const [name, more] = unknownNames(tokens, kind);
  return more === undefined ? [{ kind, ...withoutUndefined({ name }) }] : [{ kind }];
};

/** Packages of the system, unless those of a language are meant. */
export const packaged: Reader = (tokens, kind) =>
  says(tokens, words("npm yarn pnpm node pip python cargo gem composer")) ? [{ kind: "dependencies" }] : [{ kind }];

const OWN = words(
  "project projeto proyecto app application aplicacao aplicacion aplicativo program programa our nosso nossa nossos nuestro nuestra nuestros repo",
);
const WARNINGS = words("warning warnings warn warns aviso avisos alerta alertas advertencia advertencias");
const OF_SYSTEM = words("system sistema journal journald syslog kernel dmesg systemd");

/** Which log is meant: a file, that of a service, of the project, of the kernel, or of the system. */
export const logged: Reader = (tokens, kind) => {
  const [file] = operands(tokens, "file", "path");
  const [count] = numbersIn(tokens);
  if (file !== undefined && kind === "log-tail") return [{ kind: "read", path: file.written, last: count ?? 10 }];
  if (kind === "log-tail" && says(tokens, words("kernel dmesg")))
    return [{ kind: "kernel-log", ...withoutUndefined({ count }) }];
  const path = file?.written ?? logFolder(tokens);
  if (path === undefined && says(tokens, OWN) && !says(tokens, OF_SYSTEM))
    return [{ kind, text: "project", ...withoutUndefined({ count }) }];
  const text = kind === "log-errors" && says(tokens, WARNINGS) ? "warnings" : undefined;
  const names = kind === "log-tail" ? unknownNames(tokens, kind) : [];
  const [name] = names.filter((each) => !isBehindHave(tokens, each));
  return [{ kind, ...withoutUndefined({ path, count, name, text }) }];
};

/** The folder `logs`, where it is called a folder. */
function logFolder(tokens: readonly Token[]): string | undefined {
  const isFolder = (at: number) => LEXICON.meanings(tokens[at]?.plain ?? "").includes("folder");
  return tokens.find(({ plain }, at) => /^logs?$/.test(plain) && (isFolder(at + 1) || isFolder(at - 1)))?.written;
}

/** Whether a word is the verb of a perfect, and no name: "qué ha salido". */
function isBehindHave(tokens: readonly Token[], name: string): boolean {
  const at = tokens.findIndex(({ written }) => written === name);
  return /^(ha|han|he|hemos|tem|foi|been|had)$/.test(tokens[at - 1]?.plain ?? "");
}
