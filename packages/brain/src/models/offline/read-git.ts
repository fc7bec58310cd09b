import type { Reader } from "./read-programs.ts";
import {
  filesIn,
  linesIn,
  minutesIn,
  namesIn,
  numbersIn,
  operands,
  ordinalIn,
  personIn,
  says,
  unknownNames,
  withoutUndefined,
} from "./slots.ts";
import type { Token } from "./tokens.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const LATELY = words("recently lately ultimamente recentemente recientemente");
const UNCOMMITTED = words("uncommitted pending pendentes pendientes commitadas commitados commitear");

/** What a difference is asked of: a file, a commit, or all that is not committed. */
export const perhapsOfFile: Reader = (tokens, kind) => {
  const [file] = operands(tokens, "file", "path");
  if (file === undefined && says(tokens, UNCOMMITTED)) return [{ kind: "git-status" }];
  const [revision] = operands(tokens, "revision");
  if (file !== undefined && revision === undefined && says(tokens, LATELY))
    return [{ kind: "git-log", path: file.written }];
  return [{ kind, ...withoutUndefined({ path: file?.written, revision: revision?.written }) }];
};

/** The commits that are asked for: so many, of a file, of a person, of some time, or one of them. */
export const history: Reader = (tokens, kind) => {
  // "The changelog of the last 9 commits" names no file.
  const [file] = operands(tokens, "file", "path").filter(({ written }) => !/^changelog$/i.test(written));
  const minutes = minutesIn(tokens);
  const [count] = minutes === undefined ? numbersIn(tokens) : [];
  const isSingle =
    says(tokens, words("commit")) && !says(tokens, words("commits")) && says(tokens, words("last ultimo latest"));
  const person = personIn(tokens, kind);
  const revision = says(tokens, words("commit")) && !says(tokens, words("commits")) ? revisionSaid(tokens) : undefined;
  if (revision !== undefined && person === undefined && minutes === undefined && count === undefined)
    return [{ kind: "git-show", revision }];
  return [
    {
      kind,
      ...withoutUndefined({ path: file?.written, count: count ?? (isSingle ? 1 : undefined), minutes, name: person }),
    },
  ];
};

/** The person whose commits are counted, if one is named. */
export const ofPerson: Reader = (tokens, kind) => [{ kind, ...withoutUndefined({ name: personIn(tokens, kind) }) }];

/** The commit that is asked for, or those of a person. */
export const shown: Reader = (tokens, kind) => {
  const name = personIn(tokens, kind);
  if (name !== undefined) return [{ kind: "git-log", name }];
  const [revision] = operands(tokens, "revision");
  return [{ kind, ...withoutUndefined({ revision: revision?.written ?? revisionSaid(tokens) }) }];
};

const FIRST = words("first oldest earliest initial primeiro primer primero inicial");
const BEFORE = words("before anterior antes previous");
const NEWEST = words("last latest newest ultimo");

/** The commit that words point at: "the one before the last", "the third from the top", "the first". */
function revisionSaid(tokens: readonly Token[]): string | undefined {
  if (says(tokens, words("penultimate penultimo"))) return "HEAD~1";
  if (says(tokens, words("antepenultimate antepenultimo"))) return "HEAD~2";
  const before = tokens.findIndex(({ plain }) => BEFORE.has(plain));
  if (before >= 0 && says(tokens.slice(before), NEWEST)) return "HEAD~1";
  if (says(tokens, FIRST)) return "first";
  const ordinal = ordinalIn(tokens);
  return ordinal === undefined ? undefined : `HEAD~${ordinal - 1}`;
}

/** Whose the last commit is, or the last of a person. */
export const lastAuthor: Reader = (tokens, kind) => {
  const name = personIn(tokens, kind);
  if (name !== undefined) return [{ kind: "git-log", name, count: 1 }];
  const revision = revisionSaid(tokens);
  return revision === undefined ? [{ kind }] : [{ kind: "git-show", revision }];
};

const LAST = words("last latest ultimo ultima recently");

/** The file, and the line of it, whose author is asked for. */
export const blamed: Reader = (tokens, kind) => {
  const [path] = filesIn(tokens, kind);
  if (path === undefined) return undefined;
  const line = linesIn(tokens).line ?? numbersIn(tokens)[0];
  // Who changed a file last is told by its last commit; lines are counted by who wrote them.
  if (line === undefined && says(tokens, LAST)) return [{ kind: "git-log", path, count: 1 }];
  return [{ kind, path, ...withoutUndefined({ line }) }];
};

/** The message of a commit, in quotes. */
export const committed: Reader = (tokens, kind) => {
  const [quoted] = operands(tokens, "quote");
  return quoted === undefined ? undefined : [{ kind, text: quoted.written }];
};

const BRANCH_WORDS = words("branch branches rama ramo checkout");

/** Names that most repositories have, and that phrases name for that reason. */
const USUAL_BRANCHES = words("main master develop trunk");

/** All branches, or whether there is one of a name. */
export const branchesListed: Reader = (tokens, kind) => {
  const isOne = says(tokens, words("there exist exists existe existem hay ha tem have called chamada chamado llamada"));
  const [name] = operands(tokens, "path").map(({ written }) => written);
  return [{ kind, ...withoutUndefined({ name: isOne ? name : undefined }) }];
};

/** The branch that is named. */
export const branched: Reader = (tokens, kind) => {
  const usual = tokens.filter(({ plain: word }) => USUAL_BRANCHES.has(word));
  // A word of every day names a branch only where a branch is spoken of: "quick check" does not.
  const names = says(tokens, BRANCH_WORDS) ? namesIn(tokens, kind) : unknownNames(tokens, kind);
  const [name] = [...[...operands(tokens, "path"), ...usual].map(({ written }) => written), ...names];
  return name === undefined ? undefined : [{ kind, name }];
};
