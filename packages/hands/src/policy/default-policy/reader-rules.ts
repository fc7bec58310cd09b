import type { PathValue, ProcessRule } from "@vidro/core/policy";
import { OPEN_FOLDERS } from "./file-rules.ts";
import { optionsOf, flags, exampleLines, readOnlyRule } from "./rule-builders.ts";

const PROC_FILES = ["cpuinfo", "meminfo", "loadavg", "version", "uptime", "stat", "cmdline", "swaps", "diskstats"];

/** Files whose content may be shown. */
const READABLE: PathValue = {
  paths: ["{workspace}/**", ...OPEN_FOLDERS, ...PROC_FILES.map((name) => `/proc/${name}`)],
};

/** Folders that may be searched: none that contains a secret. */
const SEARCHABLE: PathValue = { ...READABLE, deep: true };

/** Names, sizes and times of all files except secrets may be listed. */
const LISTABLE: PathValue = { paths: ["/**"] };

const NUMBERS = optionsOf("-n -c --lines --bytes", "number");
const AROUND = optionsOf("-A -B -C -m --after-context --before-context --context --max-count", "number");

/** Commands that show the content of files. */
const SHOW: readonly ProcessRule[] = [
  readOnlyRule("cat", "cat", {
    arguments: {
      fit: { options: flags("-n -b -A -s -E -T -v -e -t --number --show-all"), operands: [READABLE], many: true },
    },
    examples: exampleLines(
      ["cat a.txt", "cat -n {workspace}/src/a.ts", "cat /etc/os-release", "cat -- -n"],
      [
        "cat ../secret",
        "cat /etc/shadow",
        "cat {home}/.ssh/id_rsa",
        "cat -- /root/a",
        "cat src/../../x",
        "cat --files x",
      ],
    ),
  }),
  readOnlyRule("head-tail", "head tail", {
    arguments: {
      fit: {
        options: { ...flags("-q -v --quiet --verbose"), ...NUMBERS, "-#": "flag" },
        operands: [READABLE],
        many: true,
      },
    },
    examples: exampleLines(
      ["head -20 a", "tail -n +5 a", "tail -n50 /var/log/syslog"],
      ["tail -f a", "tail -20f a", "head /root/a"],
    ),
  }),
  readOnlyRule("count-and-sum", "wc md5sum sha1sum sha256sum sha512sum cksum", {
    arguments: { fit: { options: flags("-l -w -m -L -b --lines --words --chars"), operands: [READABLE], many: true } },
    examples: exampleLines(["wc -l a b", "sha256sum a"], ["wc --files0-from=x", "sha256sum -c list", "wc /root/a"]),
  }),
  readOnlyRule("sort", "sort", {
    arguments: {
      fit: {
        options: { ...flags("-n -r -u -h -f -b -d -g -M -V"), ...optionsOf("-k -t", "text") },
        operands: [READABLE],
        many: true,
      },
    },
    examples: exampleLines(
      ["sort -k2,2 -rn a"],
      ["sort -o out a", "sort -oout a", "sort --compress-program=x a", "sort -ro x a"],
    ),
  }),
  readOnlyRule(
    "uniq",
    "uniq",
    // A second operand is a file to write.
    {
      arguments: {
        fit: { options: { ...flags("-c -d -u -i"), ...optionsOf("-f -s -w", "number") }, operands: [READABLE] },
      },
      examples: exampleLines(["uniq -c a"], ["uniq a b", "uniq /root/a"]),
    },
  ),
  readOnlyRule("cut", "cut", {
    arguments: {
      fit: { options: { ...flags("-s"), ...optionsOf("-d -f -c -b", "text") }, operands: [READABLE], many: true },
    },
    examples: exampleLines(["cut -d: -f1 /etc/passwd"], ["cut -f1 /etc/shadow", "cut -f1 ../a"]),
  }),
  readOnlyRule("diff", "diff cmp", {
    arguments: {
      fit: { options: flags("-u -r -q -N -w -b -i -B -s --brief --recursive"), operands: [SEARCHABLE, SEARCHABLE] },
    },
    examples: exampleLines(
      ["diff -u a b", "diff -r old new"],
      ["diff a /root/b", "diff -r . /etc", "diff --to-file=/root/x a"],
    ),
  }),
  readOnlyRule("file-type", "file", {
    arguments: { fit: { options: flags("-b -i -h --mime --mime-type --brief"), operands: [READABLE], many: true } },
    examples: exampleLines(["file -b a"], ["file -C -m x", "file -f list", "file -z a", "file /root/a"]),
  }),
];

/** The mounts of the host, which a program in a restricted view does not see. */
const MOUNT_TABLE: readonly ProcessRule[] = [
  readOnlyRule(
    "mount-table",
    "cat head tail",
    // /proc/mounts links to the mounts of the reading process.
    {
      arguments: {
        fit: { options: { ...NUMBERS, "-#": "flag" }, operands: [{ paths: ["/proc/mounts", "/proc/*/mounts"] }] },
      },

      sees: "host",
      examples: exampleLines(
        ["cat /proc/mounts", "head -5 /proc/self/mounts"],
        ["cat /root/a", "cat /proc/self/environ", "cat /proc/mounts /root/a"],
      ),
    },
  ),
];

/** Commands that list files. */
const LIST: readonly ProcessRule[] = [
  readOnlyRule("ls", "ls", {
    arguments: {
      fit: {
        options: {
          ...flags("-l -a -A -h -t -r -R -S -1 -d -F -i -s -n -p -X -c -u -g -G -o --all --human-readable --recursive"),
          ...optionsOf("--color --time-style --sort", { attached: "text" }),
        },
        operands: [LISTABLE],
        many: true,
      },
    },
    cwd: LISTABLE,
    sees: "host",
    examples: exampleLines(
      ["ls", "ls -lah src", "ls --color=never /etc"],
      ["./ls", "ls --hyperlink", "ls {state}", "ls {home}/.ssh"],
    ),
  }),
  readOnlyRule("tree", "tree", {
    arguments: {
      fit: {
        options: { ...flags("-a -d -f -h -s --noreport"), ...optionsOf("-L", "number"), ...optionsOf("-I -P", "text") },
        operands: [{ paths: ["{workspace}/**"] }],
        many: true,
      },
    },
    cwd: { paths: ["{workspace}/**"] },
    examples: exampleLines(["tree -L 2 src"], ["tree -o out", "tree /", "tree -R -H x"]),
  }),
  readOnlyRule("sizes", "du", {
    arguments: {
      fit: {
        options: {
          ...flags("-s -h -a -c -k -m -x -b --summarize --human-readable --apparent-size --total"),
          ...optionsOf("-d --max-depth", "number"),
          ...optionsOf("--exclude", "text"),
        },
        operands: [LISTABLE],
        many: true,
      },
    },
    cwd: LISTABLE,
    sees: "host",
    examples: exampleLines(["du -sh .", "du -d1 -h /var/log"], ["du --files0-from=x", "du -X list", "du {state}"]),
  }),
  readOnlyRule("about-a-file", "stat", {
    arguments: {
      fit: {
        options: { ...flags("-t -L -f --terse"), ...optionsOf("-c --format --printf", "text") },
        operands: [LISTABLE],
        many: true,
      },
    },
    sees: "host",
    examples: exampleLines(["stat a", "stat -c %s /etc/hosts"], ["stat /etc/shadow", "stat --cached=x a"]),
  }),
  readOnlyRule("names", "pwd basename dirname realpath readlink echo", {
    arguments: { fit: { options: flags("-P -L -f -e -n -s"), operands: ["text"], many: true } },
    sees: "host",
    examples: exampleLines(["pwd", "realpath a", "echo hello"], ["realpath --files", "./pwd"]),
  }),
  readOnlyRule("find", "find", {
    arguments: {
      fit: {
        wholeWords: true,
        options: {
          ...flags("-P -empty -print -print0 -ls -not -a -and -o -or -prune -true -xdev -mount -depth -daystart"),
          ...optionsOf("-name -iname -path -ipath -wholename -regex -iregex -user -group -printf", "text"),
          ...optionsOf("-maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -perm", "number"),
          "-type": { like: ["f", "d", "l", "f,d", "f,l"] },
          "-newer": READABLE,
        },
        operands: [{ paths: ["{workspace}/**", ...OPEN_FOLDERS] }],
        many: true,
      },
    },
    cwd: { paths: ["{workspace}/**"] },
    examples: exampleLines(
      ["find . -name *.ts -type f", "find src -maxdepth 2 -not -empty", "find . ( -name a -o -name b ) -mtime -7"],
      [
        "find . -exec rm {} ;",
        "find . -execdir sh {} ;",
        "find . -ok rm {} ;",
        "find . -delete",
        "find . -fprint x",
        "find . -fls x",
        "find / -name a",
        "find -L .",
        "find . -name -exec",
        "find -files0-from x",
        "find .. -name a",
      ],
    ),
  }),
];

/** Commands that search. The first operand must be the pattern, so options that replace it (-e, -f) are not allowed. */
const SEARCH: readonly ProcessRule[] = [
  readOnlyRule("grep", "grep", {
    arguments: {
      fit: {
        options: {
          ...flags("-r -n -i -l -L -c -v -w -x -E -F -P -o -h -H -s -q -I -a --recursive --ignore-case --line-number"),
          ...AROUND,
          ...optionsOf("--include --exclude --exclude-dir", "text"),
          "--color": { attached: "text" },
        },
        operands: ["text", SEARCHABLE],
        many: true,
      },
    },
    cwd: { paths: ["{workspace}/**"], deep: true },
    examples: exampleLines(
      ["grep -rn REVIEW src", "grep -A 3 root /etc/passwd", "grep -- -x a"],
      [
        "grep -e x /etc/shadow",
        "grep x /etc/shadow",
        "grep -r x /etc",
        "grep -f /root/a b",
        "grep -R x .",
        "grep -- -e ../a",
      ],
    ),
  }),
  readOnlyRule("rg", "rg", {
    arguments: {
      fit: {
        options: {
          ...flags(
            "-n -i -l -c -v -w -x -F -S -s -o -U -N -H -I -u --hidden --no-heading --heading --json --stats --no-ignore",
          ),
          ...AROUND,
          ...optionsOf("-g --glob -t -T --type --type-not --color --sort", "text"),
          ...optionsOf("--max-depth -d", "number"),
        },
        operands: ["text", SEARCHABLE],
        many: true,
      },
    },
    cwd: { paths: ["{workspace}/**"], deep: true },
    examples: exampleLines(
      ["rg -n REVIEW", "rg -g *.ts foo src"],
      [
        "rg --pre ./x foo",
        "rg --pre=./x foo",
        "rg -z foo",
        "rg -e foo /root",
        "rg foo ../x",
        "rg -L foo",
        "rg --files /root",
      ],
    ),
  }),
  readOnlyRule("rg-files", "rg", {
    arguments: {
      fit: {
        // Without --files the first operand is a pattern; judging it as a path is harmless.
        options: { ...flags("--files --hidden"), ...optionsOf("-g --glob -t --type", "text") },
        operands: [SEARCHABLE],
        many: true,
      },
    },
    cwd: { paths: ["{workspace}/**"], deep: true },
    examples: exampleLines(["rg --files -g *.ts src"], ["rg --files /root", "rg --pre=x --files"]),
  }),
];

/** Rules for reading the workspace and files that every user of the host may read. */
export const READER_RULES: readonly ProcessRule[] = [...SHOW, ...MOUNT_TABLE, ...LIST, ...SEARCH];
