/** One instruction of a Dockerfile. */
export interface DockerInstruction {
  readonly word: string;
  readonly rest: string;
  /** Number of its stage, from 0. */
  readonly stage: number;
}

const KNOWN = /^(?:FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD)$/u;

/** The instructions of a Dockerfile in order; throws on a line that is none. */
export function dockerInstructions(text: string): readonly DockerInstruction[] {
  let stage = -1;
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, word = "", rest = ""] = /^([A-Z]+) (.+)$/u.exec(line) ?? [];
      if (!KNOWN.test(word)) throw new Error(`This is no instruction of a Dockerfile: ${line}`);
      if (word === "FROM") stage += 1;
      return { word, rest, stage };
    });
}

/** What is wrong with the instructions of a Dockerfile. */
export function dockerFaults(instructions: readonly DockerInstruction[]): readonly string[] {
  const faults: string[] = [];
  const last = Math.max(...instructions.map(({ stage }) => stage));
  const ofLast = instructions.filter(({ stage }) => stage === last);
  const only = (word: string): string => ofLast.filter((one) => one.word === word).at(-1)?.rest ?? "";
  for (const { rest } of instructions.filter(({ word }) => word === "FROM"))
    if (!/:[^:\s]*\d/u.test(rest)) faults.push(`The image has no version: ${rest}`);
  if (!/^[1-9]\d*:[1-9]\d*$/u.test(only("USER"))) faults.push("It does not run as a user other than root, by number.");
  for (const word of ["ENTRYPOINT", "CMD"])
    if (!only(word).startsWith("[")) faults.push(`${word} starts a shell, which would swallow signals.`);
  if (!only("HEALTHCHECK").includes("CMD [")) faults.push("Its health is not checked.");
  const names = instructions.flatMap(({ word, rest }) => (word === "FROM" ? [/ AS (\S+)/u.exec(rest)?.[1] ?? ""] : []));
  for (const { rest } of ofLast.filter(({ word }) => word === "COPY"))
    if (!names.includes(/--from=(\S+)/u.exec(rest)?.[1] ?? "."))
      faults.push(`It takes more than what was built: COPY ${rest}`);
  return faults;
}

/** The words of an instruction in the form of JSON, such as CMD. */
export function dockerWords(instructions: readonly DockerInstruction[], word: string): readonly string[] {
  const { rest = "[]" } = instructions.findLast((one) => one.word === word) ?? {};
  return JSON.parse(rest.slice(rest.indexOf("["))) as string[];
}
