import type { ProcessRule } from "@vidro/core/policy";
import { optionsOf, flags, exampleLines, readOnlyRule, splitWords } from "./rule-builders.ts";

const ANY_PATH = { paths: ["/**"] } as const;

/** The name of a kernel setting; neither a path, which could lead anywhere, nor a new value. */
const SETTING = { like: ["*"], unlike: ["*=*", "*/*"] } as const;

/** Filters for sockets; a name in place of a port or an address would cause a network look-up. */
const FILTER = {
  like: splitWords(`
    state exclude established listening time-wait close-wait connected synchronized all sport dport = == != < > <= >=
    ( ) and or not :*`),
};

/** Commands about the machine and its hardware. */
const MACHINE: readonly ProcessRule[] = [
  readOnlyRule("uname", "uname", {
    arguments: { fit: { options: flags("-a -s -n -r -v -m -p -i -o --all --kernel-name --kernel-release --machine") } },
    examples: exampleLines(["uname", "uname -a", "uname -sr"], ["./uname -a", "uname --set", "uname x"]),
  }),
  readOnlyRule("disk-space", "df", {
    arguments: {
      fit: {
        options: { ...flags("-h -H -T -i -k -m -a -l -P --human-readable --total"), "--output": { attached: "text" } },
        operands: [ANY_PATH],
        many: true,
      },
    },
    examples: exampleLines(["df", "df -hT /", "df --output=pcent /"], ["df --sync", "df {state}/x"]),
  }),
  readOnlyRule("memory", "free", {
    arguments: { fit: { options: flags("-h -b -k -m -g -t -w -l --human --mega --giga --total --wide") } },
    examples: exampleLines(["free -h", "free"], ["free -s 1", "free x"]),
  }),
  readOnlyRule("block-devices", "lsblk", {
    arguments: {
      fit: {
        options: {
          ...flags("-f -a -l -J -p -b -d -m -n -t -i -S --json --fs --bytes"),
          ...optionsOf("-o --output", "text"),
        },
        operands: [{ paths: ["/dev/**"] }],
        many: true,
      },
    },
    examples: exampleLines(["lsblk -f", "lsblk -o NAME,SIZE /dev/sda"], ["lsblk --sysroot /x", "lsblk /etc"]),
  }),
  readOnlyRule("hardware", "lscpu nproc arch lsmod lspci lsusb uptime hostid", {
    arguments: { fit: { options: flags("-J -e -p -s -v -k -n -t --json --all --since --pretty") } },
    examples: exampleLines(
      ["lscpu", "nproc --all", "uptime -p", "lspci -k"],
      ["lscpu -s=/x", "lspci -F dump", "uptime x"],
    ),
  }),
  readOnlyRule("host-name", "hostname", {
    arguments: { fit: { options: flags("-f -i -I -s -d -A --fqdn --short --all-ip-addresses --domain") } },
    examples: exampleLines(["hostname", "hostname -I"], ["hostname evil", "hostname -F /x", "hostname -- evil"]),
  }),
  readOnlyRule("clock", "date", {
    arguments: {
      fit: {
        options: {
          ...flags("-u -R --utc --universal --rfc-email"),
          ...optionsOf("-d --date", "text"),
          ...optionsOf("-I --iso-8601 --rfc-3339", { attached: "text" }),
        },
        // Any other operand than a format sets the clock.
        operands: [{ like: ["+*"] }],
      },
    },
    examples: exampleLines(
      ["date", "date -u +%F", "date -Iseconds"],
      ["date -s now", "date 01020304", "date --set=now"],
    ),
  }),
  readOnlyRule("machine-summary", "hostnamectl timedatectl lsb_release findmnt", {
    arguments: {
      fit: { options: flags("-a -d -r -c -s -i -J -l --all --json --no-pager"), operands: [{ like: ["status"] }] },
    },
    examples: exampleLines(["hostnamectl", "timedatectl status", "lsb_release -a"], ["hostnamectl hostname x"]),
  }),
  readOnlyRule("mounts", "mount", {
    arguments: { exact: [[], ["-l"]] },
    examples: exampleLines(["mount"], ["mount /dev/sda1 /mnt", "mount -a"]),
  }),
  readOnlyRule("kernel-settings", "sysctl", {
    arguments: { fit: { options: flags("-a -n -N -e --all --values"), operands: [SETTING], many: true } },
    examples: exampleLines(
      ["sysctl -a", "sysctl -n vm.swappiness"],
      ["sysctl vm.swappiness=1", "sysctl -w a=1", "sysctl -p", "sysctl kernel/../../../etc/shadow"],
    ),
  }),
];

/** Commands about users and processes. */
const RUNNING: readonly ProcessRule[] = [
  readOnlyRule("processes", "ps", {
    arguments: {
      fit: {
        options: {
          ...flags("-e -f -A -a -l -F -H -w -L -x --forest --no-headers"),
          ...optionsOf("-p -u -U -C -t --pid --ppid --user --sort", "text"),
          // The environment of a process can contain secrets.
          ...optionsOf("-o --format", { like: ["*"], unlike: ["*environ*"] }),
        },
        operands: [{ like: ["aux", "auxf", "auxww", "axu", "ax", "axf", "axjf", "x", "u", "f"] }],
      },
    },
    examples: exampleLines(
      ["ps aux", "ps -ef", "ps -eo pid,comm --sort=-rss", "ps aux --sort=-%mem"],
      ["ps auxe", "ps eww", "ps -o environ"],
    ),
  }),
  readOnlyRule("load", "top", {
    arguments: { exact: [["-b", "-n", "1"], ["-bn1"], ["-b", "-n1"]] },
    examples: exampleLines(["top -bn1"], ["top"]),
  }),
  readOnlyRule("load-history", "vmstat", {
    arguments: { fit: { options: flags("-s -w -a -d"), operands: ["number", "number"] } },
    examples: exampleLines(["vmstat", "vmstat 1 3"], ["vmstat -p /dev/sda1", "vmstat x"]),
  }),
  readOnlyRule("identity", "id whoami groups", {
    arguments: { fit: { options: flags("-u -g -G -n -r --user --group --groups --name"), operands: ["text"] } },
    examples: exampleLines(["id", "id -un", "whoami", "groups root"], ["id --zero-all", "id a b"]),
  }),
  readOnlyRule("people", "w last", {
    arguments: {
      fit: {
        options: { ...flags("-a -u -h -s -x -i"), "-n": "number", "-#": "flag" },
        operands: [{ like: ["*"], unlike: ["*/*"] }],
      },
    },
    examples: exampleLines(["w -h", "last -n 5", "last -5", "last root"], ["last -f /x", "w /etc/shadow"]),
  }),
  readOnlyRule(
    "people-here",
    "who",
    // An operand would be a file to read.
    {
      arguments: { fit: { options: flags("-a -b -r -u -H -s -q") } },
      examples: exampleLines(["who", "who -b"], ["who a", "who /etc/shadow"]),
    },
  ),
  readOnlyRule(
    "accounts",
    "getent",
    // Not hosts: a look-up in the network would send the name to a remote server.
    {
      arguments: { fit: { operands: [{ like: ["passwd", "group", "services", "protocols"] }, "text"], many: true } },

      examples: exampleLines(
        ["getent passwd root", "getent group"],
        ["getent shadow", "getent -s x passwd", "getent hosts a.example"],
      ),
    },
  ),
  readOnlyRule("services", "systemctl", {
    arguments: {
      fit: {
        before: flags("--no-pager --no-legend --plain --user --full -l -a --all"),
        commands: [
          "status",
          "list-units",
          "list-unit-files",
          "list-timers",
          "list-sockets",
          "list-dependencies",
          "is-active",
          "is-enabled",
          "is-failed",
          "is-system-running",
          "get-default",
        ],
        options: {
          ...flags("--no-pager --no-legend --plain --user --full --failed -l -a --all -q --quiet"),
          ...optionsOf("-t --type --state", "text"),
          ...optionsOf("-n --lines", "number"),
        },
        operands: ["text"],
        many: true,
      },
    },
    examples: exampleLines(
      ["systemctl status ssh", "systemctl --no-pager list-units --type=service", "systemctl is-active ssh"],
      ["systemctl restart ssh", "systemctl -H host status ssh", "systemctl --root=/x status", "systemctl -- stop ssh"],
    ),
  }),
  readOnlyRule("failed-services", "systemctl", {
    arguments: { fit: { options: flags("--failed --no-pager --no-legend --plain --user -a --all") } },
    examples: exampleLines(["systemctl --failed", "systemctl"], ["systemctl daemon-reload", "systemctl --force"]),
  }),
];

/** Commands about logs and the network. */
const LOGS_AND_NETWORK: readonly ProcessRule[] = [
  readOnlyRule("journal", "journalctl", {
    arguments: {
      fit: {
        options: {
          ...flags(
            "-e -x -k -r -q -a --no-pager --list-boots --disk-usage --utc --no-hostname --reverse --dmesg --quiet",
          ),
          ...optionsOf("-u -p -S -U -g -t --unit --priority --since --until --grep --identifier", "text"),
          ...optionsOf("-n --lines", "number"),
          ...optionsOf("-b --boot", { attached: "text" }),
          ...optionsOf("-o --output", {
            like: ["short", "short-*", "json", "json-pretty", "cat", "verbose", "with-unit"],
          }),
        },
        operands: [{ like: ["_*=*"] }],
        many: true,
      },
    },
    examples: exampleLines(
      ["journalctl -u ssh -n 50 --no-pager", "journalctl -b -p err", "journalctl --since today _PID=1"],
      ["journalctl -f", "journalctl -fu ssh", "journalctl --vacuum-time=1s", "journalctl --rotate", "journalctl -n -f"],
    ),
  }),
  readOnlyRule("kernel-log", "dmesg", {
    arguments: {
      fit: { options: { ...flags("-T -k -x --ctime --decode --nopager"), ...optionsOf("-l --level", "text") } },
    },
    examples: exampleLines(["dmesg -T", "dmesg --level=err"], ["dmesg -c", "dmesg --clear", "dmesg -w", "dmesg -F /x"]),
  }),
  readOnlyRule("sockets", "ss", {
    arguments: {
      fit: {
        options: flags(
          "-t -u -l -n -p -a -x -s -e -i -m -o -4 -6 -H -O --tcp --udp --listening --numeric --processes --all",
        ),
        operands: [FILTER],
        many: true,
      },
    },
    examples: exampleLines(
      ["ss -tlnp", "ss -s", "ss -tn state established", "ss -tn dport = :443"],
      ["ss -K dst 1.2.3.4", "ss -D out", "ss -tF f", "ss dst a.example"],
    ),
  }),
  readOnlyRule("addresses", "ip", {
    arguments: {
      fit: {
        wholeWords: true,
        before: flags("-4 -6 -br -brief -j -json -p -pretty -s -stats -d -details -o -oneline -c -color"),
        commands: ["addr", "address", "a", "link", "l", "route", "r", "neigh", "neighbour", "n", "rule"],
      },
    },
    examples: exampleLines(
      ["ip a", "ip -br addr", "ip route"],
      ["ip link set eth0 down", "ip addr add 10.0.0.1/8", "ip -b f"],
    ),
  }),
  readOnlyRule("addresses-shown", "ip", {
    arguments: {
      fit: {
        wholeWords: true,
        before: flags("-4 -6 -br -brief -j -json -p -pretty -s -stats -d -details -o -oneline -c -color"),
        commands: [
          "addr show",
          "address show",
          "a show",
          "a s",
          "link show",
          "l show",
          "route show",
          "route get",
        ].concat(["r show", "route list", "neigh show", "rule show", "addr list", "link list"]),
        operands: ["text"],
        many: true,
      },
    },
    examples: exampleLines(
      ["ip addr show", "ip -j link show dev eth0", "ip route get 1.1.1.1"],
      ["ip link set eth0 down", "ip route del default", "ip -n ns addr show", "ip addr flush dev eth0"],
    ),
  }),
];

/** Read-only facts about the host: processes, mounts and network, without the content of files. */
export const SYSTEM_RULES: readonly ProcessRule[] = [...MACHINE, ...RUNNING, ...LOGS_AND_NETWORK].map((rule) => ({
  ...rule,
  sees: "host",
}));
