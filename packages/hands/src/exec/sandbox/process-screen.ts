import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { HAND_LIMITS } from "@vidro/core";

/*
 * Keeps a line of root's from the files of other processes in /proc (`root`, `cwd`, `fd`, `environ`, `mem`), through
 * which it could look around its cover. Landlock does it: a process in a Landlock domain may inspect processes of its
 * domain only, whatever its user and capabilities are. Signals, sockets and files stay as they are.
 */

/** The perl that enters screened places. */
export const PERL = "/usr/bin/perl";

/** Numbers of system calls, by processor; those of Landlock are the same on all. */
const CALLS: { readonly [arch: string]: { readonly setns: number; readonly prctl: number } } = {
  x64: { setns: 308, prctl: 157 },
  arm64: { setns: 268, prctl: 167 },
};

/**
 * A perl sub that enters a mount namespace and a folder, then a Landlock domain, and gives up capabilities; it dies with
 * the reason when one of these fails. Node has no way to call the kernel directly, and `setpriv` can set Landlock up
 * only from util-linux 2.40 on; perl is a part of every Debian.
 * A domain has to handle some right of files: to make device files, which the line has no power to do anyway. To move
 * files between folders (0x2000) is allowed everywhere, since Landlock denies it where no rule allows it.
 */
export const ENTER_SCREEN = `
  sub enter_screen {
    my ($setns, $namespace, $folder, $prctl, $powers) = @_;
    if ($namespace ne "") {
      open my $place, "<", $namespace or die "$namespace: $!\n";
      syscall($setns + 0, fileno $place, 0x20000) == 0 or die "$namespace: $!\n";
    }
    chdir $folder or die "$folder: $!\n";
    delete @ENV{"PWD", "OLDPWD"};
    my $handled = pack "Q", 0x2040;
    my $rules = syscall 444, $handled, 8, 0;
    $rules >= 0 or die "Landlock: $!\n";
    opendir my $root, "/" or die "/: $!\n";
    my $everywhere = pack "Ql", 0x2000, fileno $root;
    syscall(445, $rules, 1, $everywhere, 0) == 0 or die "Landlock: $!\n";
    syscall(446, $rules, 0) == 0 or die "Landlock: $!\n";
    for my $power (split /,/, $powers) {
      syscall($prctl + 0, 24, $power + 0, 0, 0, 0) == 0 or die "capability $power: $!\n";
    }
  }
`;

/** Enters a screened place and executes the rest of its words. One program does it all, because each costs a millisecond. */
const SCRIPT = `${ENTER_SCREEN}
  enter_screen(splice @ARGV, 0, 5);
  exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";
`;

/** Where a screened line is started, and what it must not be able to do. */
export interface ScreenedPlace {
  readonly folder: string;
  /** Path of the mount namespace. */
  readonly namespace?: string;
  /** Numbers of the capabilities that it cannot get. */
  readonly powers?: readonly number[];
}

/** The arguments of `enter_screen` for a place. */
export function screenArguments({ folder, namespace = "", powers = [] }: ScreenedPlace): readonly string[] {
  const { setns = 0, prctl = 0 } = CALLS[process.arch] ?? {};
  return [String(setns), namespace, folder, String(prctl), powers.join(",")];
}

/** The words before a line that start it in a screened place. */
export function screenedWords(place: ScreenedPlace): readonly string[] {
  return [PERL, "-e", SCRIPT, ...screenArguments(place)];
}

/** Whether a screened entry takes namespaces and capabilities on this processor. */
export function entersNamespaces(): boolean {
  return CALLS[process.arch] !== undefined;
}

let works: Promise<boolean> | undefined;

/** Whether lines of root's can be started in screened places: not without perl or Landlock, which is probed once per process. */
export function canScreen(): Promise<boolean> {
  return (works ??= probeScreen());
}

async function probeScreen(): Promise<boolean> {
  if (!existsSync(PERL)) return false;
  const [perl = PERL, ...words] = screenedWords({ folder: "/" });
  const test = ["/bin/sh", "-c", 'test ! -r "/proc/$0/root/"', String(process.pid)];
  try {
    await promisify(execFile)(perl, [...words, ...test], { timeout: HAND_LIMITS.coverMs, env: {} });
    return true;
  } catch {
    return false;
  }
}
