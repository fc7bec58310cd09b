import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramResult } from "./installed-packages.ts";

/* A machine that has next to nothing: a root of its own in which there are a few programs, and no Node. */

/** What every system has beside sh. */
const USUAL = "sh tar gzip sha256sum mktemp mkdir mv rm ln cp uname id dirname readlink printf cat env pwd sleep df";

const SYSTEM =
  "--ro-bind /usr/lib /usr/lib --symlink usr/lib /lib --symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /tmp";
const USER = "--clearenv --setenv HOME /home/user --setenv PATH /usr/bin --chdir /home/user";

/** What is on such a machine. */
export interface BareHostOptions {
  /** Programs beside those that every system has, such as curl. */
  readonly programs: readonly string[];
  /** Whether its user is an ordinary one, and not root. */
  readonly ordinary?: boolean;
  /** Scripts that stand for programs, by name. */
  readonly scripts?: { readonly [name: string]: string };
  /** Further folders of this machine that are seen there, by their path there. */
  readonly folders?: { readonly [path: string]: string };
}

/** A machine without Node, whose files outlive each command that is run there. */
export class BareHost {
  /** The home folder of its user. */
  readonly home: string;
  readonly #words: readonly string[];

  constructor(folder: string, { programs, ordinary = false, scripts = {}, folders = {} }: BareHostOptions) {
    this.home = join(folder, "home");
    const bin = join(folder, "bin");
    for (const made of [this.home, bin]) mkdirSync(made, { recursive: true });
    for (const [name, text] of Object.entries(scripts)) {
      writeFileSync(join(bin, name), text);
      chmodSync(join(bin, name), 0o755);
    }
    const bound = Object.entries({ "/home/user": this.home, ...folders }).flatMap(([at, from]) => ["--bind", from, at]);
    this.#words = [
      ...SYSTEM.split(" "),
      ...(existsSync("/usr/lib64")
        ? ["--ro-bind", "/usr/lib64", "/usr/lib64", "--symlink", "usr/lib64", "/lib64"]
        : []),
      ...[...USUAL.split(" "), ...programs].flatMap(programAt),
      ...Object.keys(scripts).flatMap((name) => ["--ro-bind", join(bin, name), `/usr/bin/${name}`]),
      ...bound,
      ...(ordinary ? ["--unshare-user", "--uid", "1000", "--gid", "1000"] : []),
      ...USER.split(" "),
    ];
  }

  /** Runs a line of a shell there to its end; what it starts in the background goes on. */
  async paste(line: string): Promise<ProgramResult> {
    const child = spawn("bwrap", [...this.#words, "sh", "-c", line], { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    // Not `close`: what goes on in the background may hold the streams of bwrap itself.
    const code = await new Promise<number>((resolve) => child.once("exit", (ended) => resolve(ended ?? 1)));
    await new Promise(setImmediate);
    return { code, stdout, stderr };
  }

  /** The process that serves with a state folder below the home, as its file names it. */
  pidOf(state = ".local/state/vidro/joined"): number {
    const said = readFileSync(join(this.home, state, "serving.json"), "utf8");
    return (JSON.parse(said) as { holder: { pid: number } }).holder.pid;
  }
}

function programAt(name: string): readonly string[] {
  const found = ["/usr/bin", "/bin", "/usr/sbin"].map((path) => join(path, name)).find((path) => existsSync(path));
  return found === undefined ? [] : ["--ro-bind", realpathSync(found), `/usr/bin/${name}`];
}
