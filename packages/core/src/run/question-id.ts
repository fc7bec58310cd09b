/* The id of a question names its run, so that no two runs have the same one; older journals have the bare `q7`. */

/** The id of the question that is entry `seq` of a run. */
export function questionId(run: string, seq: number): string {
  return `q${seq}_${run}`;
}

/** A name that identifies a question and its run, for both forms of question ids. */
export function questionName(run: string, question: string): string {
  return question.endsWith(`_${run}`) ? question : `${run}_${question}`;
}

/** The run and the question of a name; undefined when it is not such a name. */
export function readQuestionName(name: string): { readonly run: string; readonly question: string } | undefined {
  const [, run] = /^q\d+_(.+)$/.exec(name) ?? [];
  if (run !== undefined) return { run, question: name };
  const [, older, question] = /^(.+)_(q\d+)$/.exec(name) ?? [];
  return older === undefined || question === undefined ? undefined : { run: older, question };
}
