import type { ProcessRule } from "@vidro/core/policy";
import { KEYS } from "./file-rules.ts";
import { exampleLines, splitWords } from "./rule-builders.ts";

const DISKS = splitWords(`
  /dev/sd* /dev/hd* /dev/vd* /dev/xvd* /dev/nvme* /dev/mmcblk* /dev/md* /dev/dm-* /dev/disk* /dev/rdisk* /dev/mapper/*
  /dev/disk/*/* /dev/mem /dev/kmem`);

/** The root, whole branches of the system, and home folders. */
const WHOLE_TREES = ["/", "/*", "/usr/*", "/var/*", "/home/*", "{home}", "{state}"];

/*
 * Commands that cannot be approved. The list is short on purpose: it protects against a hasty approval, and commands
 * that it misses still need approval. A wrapper in front (sudo, env, timeout) changes nothing; the text of a shell line
 * is not examined.
 */

/** Commands that are denied without asking. */
export const DENY_RULES: readonly ProcessRule[] = [
  {
    kind: "process",
    id: "no-tree-removal",
    program: splitWords("rm chmod chown chgrp"),
    arguments: { contain: { options: ["-r", "-R", "--recursive"], paths: WHOLE_TREES } },
    class: "destructive",
    decision: "deny",
    reason: "it would destroy the host or all that a person has",
    examples: exampleLines(
      [
        "rm -rf /",
        "rm -r -f //",
        "rm --recurs --force /usr/..",
        "sudo rm -fr {home}",
        "env X=1 rm -rf /etc",
        "chmod -R 777 /",
      ],
      ["rm -rf {workspace}/build", "rm a", "rm -f /tmp/x/y", "ls -R /"],
    ),
  },
  {
    kind: "process",
    id: "no-formatting",
    program: splitWords("mkfs mkfs.* mke2fs mkswap wipefs blkdiscard fdisk sfdisk parted sgdisk hdparm"),
    arguments: "any",
    class: "destructive",
    decision: "deny",
    reason: "it would erase a disk",
    examples: exampleLines(["mkfs.ext4 /dev/sda1", "sudo wipefs -a /dev/sda"], ["lsblk", "echo mkfs"]),
  },
  {
    kind: "process",
    id: "no-raw-disks",
    program: splitWords("dd tee cp mv shred truncate install"),
    arguments: { contain: { paths: DISKS } },
    class: "destructive",
    decision: "deny",
    reason: "it would write over a disk or the memory",
    examples: exampleLines(
      ["dd if=a of=/dev/sda", "cp a /dev/nvme0n1", "sudo tee /dev/sdb1"],
      ["dd if=a of=b", "cp a /dev/null"],
    ),
  },
  {
    kind: "process",
    id: "no-shutdown",
    program: splitWords("shutdown reboot halt poweroff init telinit"),
    arguments: "any",
    class: "destructive",
    decision: "deny",
    reason: "it would stop the host, and the hand with it",
    examples: exampleLines(["reboot", "sudo shutdown -h now"], ["uptime", "last reboot"]),
  },
  {
    kind: "process",
    id: "no-shutdown-by-systemd",
    program: ["systemctl"],
    arguments: { contain: { commands: splitWords("poweroff reboot halt kexec soft-reboot rescue emergency isolate") } },
    class: "destructive",
    decision: "deny",
    reason: "it would stop the host, and the hand with it",
    examples: exampleLines(["systemctl reboot", "sudo systemctl --force poweroff"], ["systemctl status reboot.target"]),
  },
  {
    kind: "process",
    id: "no-key-reading",
    program: splitWords(`
      cat tac nl head tail less more cp mv ln install dd tar zip gzip base64 base32 xxd od hexdump strings grep egrep fgrep
      rg sed awk cut sort uniq diff cmp file wc tee scp rsync openssl rm shred vi vim nano ed`),
    arguments: { contain: { paths: KEYS } },
    class: "privileged",
    decision: "deny",
    reason: "keys and passwords are never read or written",
    examples: exampleLines(
      [
        "cat /etc/shadow",
        "sudo cat {home}/.ssh/id_ed25519",
        "cp {state}/token /tmp/x",
        "dd if=/etc/shadow",
        "tee /etc/shadow",
      ],
      ["cat /etc/passwd", "cat a", "ls {home}/.ssh"],
    ),
  },
];
