import { grammarMisfit } from "./grammar.ts";
import { lastSegment, matchesPath, matchesWord, meanings, normalPath, pathMisfit, type Scene } from "./path.ts";
import { escapeInvisible } from "../text/printable.ts";
import type { ArgumentPatterns, Policy, ProcessRule } from "./rule.ts";
import type { ActionClass, Confinement, ProcessPlan } from "../tool.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Programs that run with the rights of another user. */
const PRIVILEGED = words("sudo su doas pkexec runuser setpriv chroot nsenter systemd-run machinectl gosu");

/** Programs that run their arguments as a command, so that their own name says nothing about the effect. */
const WRAPPERS = words(`
  env sh bash dash ash zsh ksh mksh fish csh tcsh rbash busybox toybox xargs parallel nohup timeout nice ionice chrt
  taskset setsid stdbuf unbuffer script time watch strace ltrace gdb lldb unshare bwrap firejail flock entr command exec
  python pypy ipython node nodejs deno bun tsx ts-node npx bunx npm pnpm yarn perl ruby irb php lua luajit tclsh expect
  awk gawk mawk nawk sed ed ex vi vim nvim emacs nano less more man java jshell groovy scala ghci erl elixir julia R Rscript
  osascript pwsh powershell cmd make gmake cmake ninja just rake go cargo pytest docker podman kubectl crontab at batch
  screen tmux ssh scp sftp rsync telnet nc ncat socat`);

/** Multi-call programs: the name that they are called by selects what they do. */
const MULTICALL = words("busybox toybox coreutils");

/** Options that no allow rule may offer, because their value is a program or a file to write. */
const UNSAFE_OPTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["find", words("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")],
  ["git", words("-c --config-env --exec-path --upload-pack --receive-pack --ext-diff --textconv --output")],
  ["rg", words("--pre --hostname-bin")],
  ["sort", words("-o --output --compress-program")],
  ["tar", words("--checkpoint-action --to-command --use-compress-program -I --info-script --new-volume-script -F")],
]);

/** A run of digits is looked at from its first one only. */
const withoutVersion = (name: string): string => name.replace(/(\.exe|(?<![-.\d])[-.\d]+)$/, "");

/** `npm` is really npm-cli.js and `python3` python3.11. */
const isVersionOf = (real: string, asked: string): boolean =>
  real === asked || (real.startsWith(asked) && !/[A-Za-z]/.test(real.charAt(asked.length)));

/** Whether a program, of any version, runs its arguments as a command. */
export function isWrapper(name: string): boolean {
  return [name, withoutVersion(name)].some((plain) => WRAPPERS.has(plain) || PRIVILEGED.has(plain));
}

/** Those of a program's options that no allow rule may offer. */
export function unsafeOptions(program: string, options: readonly string[]): readonly string[] {
  return options.filter((option) => UNSAFE_OPTIONS.get(program)?.has(option) === true);
}

/** The class of a command that no rule is about, by the name of its program. */
export function commandClass(plan: ProcessPlan): ActionClass {
  return namesOf(plan).some((name) => PRIVILEGED.has(name)) ? "privileged" : "code-exec";
}

/** Whether a rule is about the program of a plan. */
export function isAbout(rule: ProcessRule, plan: ProcessPlan): boolean {
  return commandsFor(rule, plan).length > 0;
}

/** The reason when an allow rule does not match because no sandbox confines the program. */
export const UNHELD = "no sandbox of this host holds it";

const HELD: { readonly [kind in ActionClass]: Confinement | undefined } = {
  read: "files",
  write: "workspace",
  "code-exec": "workspace",
  network: "network",
  // A rule that allows these is about the host itself; inside a sandbox they would show something else.
  privileged: undefined,
  destructive: undefined,
};

/** The confinement of a program that a rule allows, by what the rule is about. */
export function confinementOf({ sees, class: kind }: ProcessRule): Confinement | undefined {
  return sees === "host" ? "facts" : HELD[kind];
}

/** Why a rule does not match a command; undefined when it matches. */
export function commandMisfit(rule: ProcessRule, plan: ProcessPlan, policy: Policy): string | undefined {
  const candidates = commandsFor(rule, plan);
  if (candidates.length === 0) return `it is about ${rule.program.join(", ")}`;
  const showsContent = rule.decision === "allow" && rule.sees !== "host";
  const scene = { cwd: plan.cwd, policy, showsContent };
  const whys = candidates.map((argv) => argumentsMisfit(rule, argv.slice(1), scene));
  if (!whys.includes(undefined)) return whys[0];
  const elsewhere = rule.cwd && pathMisfit(plan.cwd, rule.cwd, scene);
  if (elsewhere !== undefined) return `the folder: ${elsewhere}`;
  if (rule.decision !== "allow") return undefined;
  const isUnheld = plan.confined === undefined && confinementOf(rule) !== undefined;
  return whyDistrusted(rule, plan, policy) ?? (isUnheld ? UNHELD : undefined);
}

/** The names of a plan's program: the word that was asked for, and its file unless that is a multi-call program. */
function namesOf(plan: ProcessPlan): readonly string[] {
  const asked = lastSegment(plan.argv[0] ?? "");
  const real = lastSegment(plan.program);
  return real === asked || MULTICALL.has(real) ? [asked] : [asked, real];
}

/**
 * The commands in a plan that a rule is about. For a deny rule also those behind a wrapper, at any position
 * (`sudo -u root rm -rf /`): treating a word as a command too often is the safe mistake.
 */
function commandsFor(rule: ProcessRule, plan: ProcessPlan): readonly (readonly string[])[] {
  const meant = (name: string): boolean => rule.program.some((pattern) => matchesWord(pattern, name));
  const names = namesOf(plan);
  if (names.some((name) => meant(name))) return [plan.argv];
  if (rule.decision !== "deny" || !names.some((name) => isWrapper(name))) return [];
  return plan.argv.flatMap((word, index) => (index > 0 && meant(lastSegment(word)) ? [plan.argv.slice(index)] : []));
}

/** Why an allow rule does not trust a program: its real file, its environment or invisible characters in its arguments. */
function whyDistrusted(rule: ProcessRule, plan: ProcessPlan, policy: Policy): string | undefined {
  const [asked = "", real = asked] = namesOf(plan);
  if (!rule.program.includes(asked)) return `it was called as ${asked}`;
  if (!isVersionOf(real, asked)) return `${asked} is really ${plan.program}`;
  // Both the name that was given, if it says where, and the file that it leads to: a project may bring a link by any name.
  const places = [plan.program, ...(plan.argv[0]?.includes("/") === true ? [plan.argv[0]] : [])];
  const stray = places.map((path) => normalPath(path, plan.cwd)).find((path) => !isTrusted(path, policy));
  if (stray !== undefined) return `${stray} is not in a trusted folder`;
  if (plan.argv.some((word) => escapeInvisible(word) !== word)) return "an argument has letters that cannot be seen";
  const variable = Object.entries(plan.env).find(([name, value]) => !isKnown(name, value, policy));
  return variable === undefined ? undefined : `the variable ${variable[0]} may change what the program does`;
}

function isTrusted(program: string, { trusted, places }: Policy): boolean {
  return matchesPath(trusted, program, places) && !matchesPath(["{workspace}/**", "{state}/**"], program, places);
}

function isKnown(name: string, value: string, policy: Policy): boolean {
  const family = (): string | undefined => Object.keys(policy.env).find((pattern) => matchesWord(pattern, name));
  const values = policy.env[Object.hasOwn(policy.env, name) ? name : (family() ?? "")];
  return values === "any" || values?.includes(value) === true;
}

function argumentsMisfit(rule: ProcessRule, args: readonly string[], scene: Scene): string | undefined {
  if (rule.arguments === "any") return undefined;
  if ("fit" in rule.arguments) return grammarMisfit(args, rule.arguments.fit, scene);
  if ("contain" in rule.arguments) return argumentPatternsMisfit(args, rule.arguments.contain, scene);
  const same = rule.arguments.exact.some(
    (exact) => exact.length === args.length && exact.every((word, index) => word === args[index]),
  );
  return same ? undefined : "the arguments are not exactly those of the rule";
}

function argumentPatternsMisfit(args: readonly string[], marks: ArgumentPatterns, scene: Scene): string | undefined {
  const command = args.find((arg) => !arg.startsWith("-")) ?? "nothing";
  if (marks.commands !== undefined && !marks.commands.includes(command)) return `${command} is not its sub-command`;
  if (marks.options !== undefined && !marks.options.some((option) => args.some((arg) => betrays(arg, option))))
    return `it has none of ${marks.options.join(", ")}`;
  const { paths } = marks;
  const named = paths === undefined || args.some((arg) => pointsAt(arg, paths, scene));
  return named ? undefined : `it names none of ${paths.join(", ")}`;
}

/** `-rf` has -r in it, and programs take `--recurs` for `--recursive`. */
function betrays(arg: string, option: string): boolean {
  if (option.startsWith("--")) return arg.length > 2 && option.startsWith(arg.split("=", 1)[0] ?? arg);
  return arg === option || (/^-[^-]/.test(arg) && option.length === 2 && arg.includes(option.charAt(1)));
}

function pointsAt(arg: string, marks: readonly string[], { cwd, policy }: Scene): boolean {
  const [, name, path = arg] = /^([^/=]+)=(.*)$/s.exec(arg) ?? [];
  const patterns = marks.flatMap((mark) => {
    const [, wantedName, pattern = mark] = /^([^/={]+)=(.*)$/s.exec(mark) ?? [];
    return wantedName === undefined || wantedName === name ? [pattern] : [];
  });
  return meanings(path, cwd, policy).some((at) => matchesPath(patterns, at, policy.places));
}
