import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { HAND_LIMITS } from "@vidro/core";

/*
 * Keeps a line of root's from the files of other processes in /proc (`root`, `cwd`, `fd`, `environ`, `mem`), through
 * which it could look around its cover. Landlock does it: a process in a Landlock domain may inspect processes of its
 * domain only, whatever its user and capabilities are. Signals, sockets and files stay as they are.
 */

const PERL = "/usr/bin/perl";

/**
 * Enters the folder named first and a Landlock domain, and executes the rest. Node has no way to call the kernel
 * directly, and `setpriv` can set Landlock up only from util-linux 2.40 on; perl is a part of every Debian.
 * A domain has to handle some right of files: to make device files, which the line has no power to do anyway. To move
 * files between folders (0x2000) is allowed everywhere, since Landlock denies it where no rule allows it.
 */
const SCRIPT = `
  my $folder = shift;
  chdir $folder or die "$folder: $!\\n";
  delete @ENV{"PWD", "OLDPWD"};
  my $handled = pack "Q", 0x2040;
  my $rules = syscall 444, $handled, 8, 0;
  $rules >= 0 or die "Landlock: $!\\n";
  opendir my $root, "/" or die "/: $!\\n";
  my $everywhere = pack "Ql", 0x2000, fileno $root;
  syscall(445, $rules, 1, $everywhere, 0) == 0 or die "Landlock: $!\\n";
  syscall(446, $rules, 0) == 0 or die "Landlock: $!\\n";
  exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n";
`;

function screenedWords(folder: string): readonly string[] {
  return ["-e", SCRIPT, folder];
}

/** The words before a line that start it in a folder with other processes screened from it. */
type ScreenedEntry = (folder: string) => readonly string[];

let works: Promise<boolean> | undefined;

/**
 * How a line of root's is started in a folder with other processes screened from it; undefined on a host without perl
 * or Landlock, which is probed once per process.
 */
export async function findProcessScreen(): Promise<ScreenedEntry | undefined> {
  works ??= probeScreen();
  return (await works) ? (folder) => [PERL, ...screenedWords(folder)] : undefined;
}

async function probeScreen(): Promise<boolean> {
  if (!existsSync(PERL)) return false;
  const test = ["/bin/sh", "-c", 'test ! -r "/proc/$0/root/"', String(process.pid)];
  try {
    await promisify(execFile)(PERL, [...screenedWords("/"), ...test], { timeout: HAND_LIMITS.coverMs, env: {} });
    return true;
  } catch {
    return false;
  }
}
