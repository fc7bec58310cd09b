import { grammarMisfit } from "./grammar.ts";
import { lastSegment, matchesPath, matchesWord, meanings, normalPath, pathMisfit, type Scene } from "./path.ts";
import { spelled } from "../text/printable.ts";
import type { ArgumentPatterns, Policy, ProcessRule } from "./rule.ts";
import type { ActionClass, Confinement, ProcessPlan } from "../tool.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Programs that act with the rights of somebody else. */
const PRIVILEGED = words("sudo su doas pkexec runuser setpriv chroot nsenter systemd-run machinectl gosu");

/** Programs that run what they are given, so that their name says nothing of what happens. */
const WRAPPERS = words(`
  env sh bash dash ash zsh ksh mksh fish csh tcsh rbash busybox toybox xargs parallel nohup timeout nice ionice chrt
  taskset setsid stdbuf unbuffer script time watch strace ltrace gdb lldb unshare bwrap firejail flock entr command exec
  python pypy ipython node nodejs deno bun tsx ts-node npx bunx npm pnpm yarn perl ruby irb php lua luajit tclsh expect
  awk gawk mawk nawk sed ed ex vi vim nvim emacs nano less more man java jshell groovy scala ghci erl elixir julia R Rscript
  osascript pwsh powershell cmd make gmake cmake ninja just rake go cargo pytest docker podman kubectl crontab at batch
  screen tmux ssh scp sftp rsync telnet nc ncat socat`);

/** Programs of many names, which do what the word they were called by says. */
const MULTICALL = words("busybox toybox coreutils");

/** Options that no allow rule may offer, because their value is a program or a file to write. */
const UNSAFE_OPTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["find", words("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")],
  ["git", words("-c --config-env --exec-path --upload-pack --receive-pack --ext-diff --textconv --output")],
  ["rg", words("--pre --hostname-bin")],
  ["sort", words("-o --output --compress-program")],
  ["tar", words("--checkpoint-action --to-command --use-compress-program -I --info-script --new-volume-script -F")],
]);

const unversioned = (name: string): string => name.replace(/(\.exe|[-.\d]+)$/, "");

/** `npm` is really npm-cli.js and `python3` python3.11. */
const isVersionOf = (real: string, asked: string): boolean =>
  real === asked || (real.startsWith(asked) && !/[A-Za-z]/.test(real.charAt(asked.length)));

/** Whether a program runs what it is given, by whatever version it is called. */
export function isWrapper(name: string): boolean {
  return [name, unversioned(name)].some((plain) => WRAPPERS.has(plain) || PRIVILEGED.has(plain));
}

/** Those of a program's options that no allow rule may offer. */
export function unsafeOptions(program: string, options: readonly string[]): readonly string[] {
  return options.filter((option) => UNSAFE_OPTIONS.get(program)?.has(option) === true);
}

/** What a command that no rule speaks of may do at worst, as far as its name tells. */
export function commandClass(plan: ProcessPlan): ActionClass {
  return namesOf(plan).some((name) => PRIVILEGED.has(name)) ? "privileged" : "code-exec";
}

/** Whether a rule speaks of the program of a plan at all. */
export function isAbout(rule: ProcessRule, plan: ProcessPlan): boolean {
  return commandsFor(rule, plan).length > 0;
}

/** Why a rule does not match that allows a program only where a sandbox holds it. */
export const UNHELD = "no sandbox of this host holds it";

const HELD: { readonly [kind in ActionClass]: Confinement | undefined } = {
  read: "files",
  write: "workspace",
  "code-exec": "workspace",
  network: "network",
  // Who allows these by a rule speaks of the host itself, and nothing that holds them would leave their meaning.
  privileged: undefined,
  destructive: undefined,
};

/** How a program that a rule allows has to be held: to what the rule is about. */
export function confinementOf({ sees, class: kind }: ProcessRule): Confinement | undefined {
  return sees === "host" ? "facts" : HELD[kind];
}

/** Why a rule does not match a command, or nothing when it does. */
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

/** What a plan's program goes by: the word that was asked for, and its file unless that does what the word says. */
function namesOf(plan: ProcessPlan): readonly string[] {
  const asked = lastSegment(plan.argv[0] ?? "");
  const real = lastSegment(plan.program);
  return real === asked || MULTICALL.has(real) ? [asked] : [asked, real];
}

/**
 * The commands in a plan that a rule speaks of. For a rule that denies, also those behind a wrapper, wherever they
 * begin (`sudo -u root rm -rf /`): taking a word for a command too often is the safe mistake.
 */
function commandsFor(rule: ProcessRule, plan: ProcessPlan): readonly (readonly string[])[] {
  const meant = (name: string): boolean => rule.program.some((pattern) => matchesWord(pattern, name));
  const names = namesOf(plan);
  if (names.some((name) => meant(name))) return [plan.argv];
  if (rule.decision !== "deny" || !names.some((name) => isWrapper(name))) return [];
  return plan.argv.flatMap((word, index) => (index > 0 && meant(lastSegment(word)) ? [plan.argv.slice(index)] : []));
}

/** A name proves nothing: an allow rule also wants the program's real file, a known environment and visible words. */
function whyDistrusted(rule: ProcessRule, plan: ProcessPlan, policy: Policy): string | undefined {
  const [asked = "", real = asked] = namesOf(plan);
  if (!rule.program.includes(asked)) return `it was called as ${asked}`;
  if (!isVersionOf(real, asked)) return `${asked} is really ${plan.program}`;
  // Both the name that was given, if it says where, and the file that it leads to: a project may bring a link by any name.
  const places = [plan.program, ...(plan.argv[0]?.includes("/") === true ? [plan.argv[0]] : [])];
  const stray = places.map((path) => normalPath(path, plan.cwd)).find((path) => !isTrusted(path, policy));
  if (stray !== undefined) return `${stray} is not in a trusted folder`;
  if (plan.argv.some((word) => spelled(word) !== word)) return "an argument has letters that cannot be seen";
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
