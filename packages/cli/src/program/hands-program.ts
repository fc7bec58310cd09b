import { Option } from "commander";
import type { Command } from "commander";
import { HANDS_WORDS, JSON_FLAG, splitCommas, addBrainFlags, YES_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";

const HAND_ARGUMENT = ["<hand>", "id or name of a hand"] as const;

const loadHands = () => import("../commands/hands.ts");

/** Adds the commands below `vidro hands`. */
export function addHands(root: Command, exit: Exit): void {
  const hands = root.command("hands").description("list, invite and change hands: the hosts that execute actions");
  addRegister(hands, exit);
  addReview(hands, exit);
  addKeys(hands, exit);
  addJoining(hands, exit);
  addServing(hands, exit);
  addDialling(hands, exit);
}

function addRegister(hands: Command, exit: Exit): void {
  addBrainFlags(hands.command("list"))
    .description("list hands, this machine's first, then by name")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadHands()).listHands(flags)));
  addBrainFlags(hands.command("show"))
    .description("show everything known about a hand")
    .argument(...HAND_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (hand: string, flags) => exit(await (await loadHands()).showHand(hand, flags)));
  addBrainFlags(hands.command("exec"))
    .description("run one command on hands and pass on its output and exit code")
    .argument("<hands>", HANDS_WORDS)
    .argument("<command...>", "a program and its arguments, after --")
    .option(...YES_FLAG)
    .option(...JSON_FLAG)
    .action(async (on: string, argv: string[], flags) =>
      exit(await (await import("../commands/hands/exec.ts")).exec(on, argv, flags)),
    );
  for (const [word, does] of HAND_CHANGES) {
    const command = addBrainFlags(hands.command(word))
      .description(does)
      .argument(...HAND_ARGUMENT)
      .option(...JSON_FLAG);
    if (word !== "release") command.option("--why <text>", "reason, shown in lists and in the log");
    command.action(async (hand: string, flags) => exit(await (await loadHands()).changeHand(word, hand, flags)));
  }
}

function addReview(hands: Command, exit: Exit): void {
  hands
    .command("reviewed")
    .description("confirm that you reviewed hands and tokens after restoring a backup")
    .action(async () => exit(await (await import("../commands/hands/review.ts")).confirmReview()));
}

const HAND_CHANGES = [
  ["revoke", "revoke a hand for good: it is disconnected now and never accepted again"],
  ["quarantine", "give a hand no new work until it is released"],
  ["release", "let a quarantined hand work again"],
] as const;

function addKeys(hands: Command, exit: Exit): void {
  addBrainFlags(hands.command("rotate-key"))
    .description("give a hand on signed HTTP its next key; the old one ends a day after the new one is first used")
    .argument(...HAND_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (hand: string, flags) =>
      exit(await (await import("../commands/hands/rotate-key.ts")).rotateKey(hand, flags)),
    );
  hands
    .command("authority")
    .description("print the certificate that hands check this brain's approvals with")
    .action(async () => exit(await (await import("../commands/hands/authority.ts")).printAuthority()));
  addBrainFlags(hands.command("address"))
    .description("allow the brain to call a hand at the address it listens on; without a url, forbid it")
    .argument(...HAND_ARGUMENT)
    .argument("[url]", "address that the hand listens on, like https://web-1.lan:8443")
    .option(...JSON_FLAG)
    .action(async (hand: string, url: string | undefined, flags) =>
      exit(await (await import("../commands/hands/address.ts")).allowHandAddress(hand, url, flags)),
    );
}

function addJoining(hands: Command, exit: Exit): void {
  const tags = () => new Option("--tags <a,b>", "tags to select the hand by").argParser(splitCommas);
  addBrainFlags(hands.command("invite"))
    .description("invite a host: print the line to paste there, which installs a hand and joins")
    .option("--name <name>", "name of the hand (default: the name of its host)")
    .addOption(tags())
    .option("--expires <when>", "how long the invitation is valid: 30m, at most 1h", "1h")
    .option("--installed", "the host has Vidro already: print a short line that installs nothing")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/hands/invite.ts")).inviteHost(flags)));
  hands
    .command("join")
    .description("join the brain that invited this host, and work for it until Ctrl-C")
    .argument("<url>", "address from the invitation")
    .option("--token-file <file>", "file that holds the invitation (default: VIDRO_INVITATION, else stdin)")
    .option("--token <token>", "the invitation itself; other users of this host can see it in the list of processes")
    .option("--name <name>", "name of this hand, unless the invitation has one (default: the name of this host)")
    .addOption(tags())
    .option("--workspace <folder>", "folder to work in (default: the current one)")
    .option("--transport <ws|http>", "connect by WebSocket (ws) or by signed HTTP messages (http)")
    .option("--state <folder>", "folder for its identity and its ledger")
    .option("-d, --detach", "work in the background, as a service where there is systemd, and return when connected")
    .option("--json", "print one line of JSON when it is connected")
    .action(async (url: string, flags) => exit(await (await import("../commands/hands/join.ts")).join(url, flags)));
}

function addServing(hands: Command, exit: Exit): void {
  hands
    .command("login")
    .description("sign in at an MCP server of this machine's mcp.json that asks for it")
    .argument("<server>", "name of the server in mcp.json")
    .action(async (server: string) => exit(await (await import("../commands/hands/login.ts")).signInForHand(server)));
  hands
    .command("serve")
    .description("serve this folder to clients of the TCP agent protocol")
    .requiredOption("--tcp <host:port>", "address to listen on; port 0 picks a free one, no port means 4000")
    .option("--workspace <folder>", "folder to work in (default: the current one)")
    .option("--name <name>", "name of this hand (default: the name of this host)")
    .option("--tls-cert <file>", "certificate, a file in PEM; required beyond this machine")
    .option("--tls-key <file>", "the key of the certificate, a file in PEM")
    .option("--brain <file>", "accept approvals only from the brain with this certificate (vidro hands authority)")
    .option("--lab", "for laboratories: allow other machines without TLS")
    .option("--json", "print one line of JSON when it is ready")
    .action(async (flags) => exit(await (await import("../commands/hands/serve.ts")).serveFolder(flags)));
}

function addDialling(hands: Command, exit: Exit): void {
  hands
    .command("dial")
    .description("have the brain connect to a hand that listens, and keep connected until it is revoked")
    .argument("<address>", "address of the hand, like tls://web-2.lan:4000; tcp:// only on this machine")
    .requiredOption("--token <token>", "token of the hand, with the scopes hand and approve; - reads it from stdin")
    .option("--name <name>", "name of the hand (default: the name of its host)")
    .addOption(new Option("--tags <a,b>", "tags to select the hand by").argParser(splitCommas))
    .option("--ca <file>", "trust the hand by this certificate, a file in PEM")
    .option("--lab", "for laboratories: connect to another machine without TLS")
    .option(
      "--url <url>",
      "address of the brain (default: VIDRO_URL, else the running daemon); its token is VIDRO_TOKEN",
    )
    .option(...JSON_FLAG)
    .action(async (address: string, flags) =>
      exit(await (await import("../commands/hands/dial.ts")).dialHand(address, flags)),
    );
}
