export { explainVerdict, judgePlan } from "./policy.ts";
export type { Explanation, RuleFinding } from "./policy.ts";
export type { CheckedPolicy, ExplainedAction, HomePolicy, ShownPolicy } from "./home-policy.ts";
export { isWrapper } from "./command.ts";
export { isNarrowestFor, narrowestRule } from "./narrow-rule.ts";
export { changedVerdicts } from "./past-verdicts.ts";
export type { ChangedVerdict, PastRuns, PastTally } from "./past-verdicts.ts";
export { parsePolicy } from "./parse.ts";
export { isAnywhere, matchesPath, matchesWord } from "./path.ts";
export type {
  Arguments,
  FactsRule,
  FileRule,
  Options,
  OptionValue,
  PathValue,
  PolicyFolders,
  Policy,
  PolicySource,
  ProcessRule,
  Rule,
  ShellRule,
} from "./rule.ts";
