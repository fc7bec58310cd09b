import { Option } from "commander";
import type { Command } from "commander";
import { HANDS_WORDS, JSON_FLAG, listed, named, YES_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";

const HAND_ARGUMENT = ["<hand>", "a hand's id or name"] as const;

const loadHands = () => import("../commands/hands.ts");

/** Adds what can be done with hands. */
export function addHands(root: Command, exit: Exit): void {
  const hands = root.command("hands").description("what executes, here and on other machines");
  addRegister(hands, exit);
  addReview(hands, exit);
  addKeys(hands, exit);
  addJoining(hands, exit);
  addServing(hands, exit);
  addDialling(hands, exit);
}

function addRegister(hands: Command, exit: Exit): void {
  named(hands.command("list"))
    .description("list hands by name, this machine's first")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadHands()).list(flags)));
  named(hands.command("show"))
    .description("tell all that is known of a hand")
    .argument(...HAND_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (hand: string, flags) => exit(await (await loadHands()).show(hand, flags)));
  named(hands.command("exec"))
    .description("carry out one command, and pass on what it says and how it ends")
    .argument("<hands>", HANDS_WORDS)
    .argument("<command...>", "a program and its arguments, behind --")
    .option(...YES_FLAG)
    .option(...JSON_FLAG)
    .action(async (on: string, argv: string[], flags) =>
      exit(await (await import("../commands/hands-exec.ts")).exec(on, argv, flags)),
    );
  for (const [word, does] of HAND_CHANGES) {
    const command = named(hands.command(word))
      .description(does)
      .argument(...HAND_ARGUMENT)
      .option(...JSON_FLAG);
    if (word !== "release") command.option("--why <text>", "the reason, shown in lists and in the log");
    command.action(async (hand: string, flags) => exit(await (await loadHands()).change(word, hand, flags)));
  }
}

function addReview(hands: Command, exit: Exit): void {
  hands
    .command("reviewed")
    .description("say that you looked through hands and tokens after the state came back from a backup")
    .action(async () => exit(await (await import("../commands/reviewed.ts")).reviewed()));
}

const HAND_CHANGES = [
  ["revoke", "end a hand for good: it is cut off now, and never let in again"],
  ["quarantine", "give a hand no new work until it is released"],
  ["release", "let a hand work again that was in quarantine"],
] as const;

function addKeys(hands: Command, exit: Exit): void {
  named(hands.command("rotate-key"))
    .description("give a hand that signs its messages its next key; the old one ends a day after the first use")
    .argument(...HAND_ARGUMENT)
    .option(...JSON_FLAG)
    .action(async (hand: string, flags) =>
      exit(await (await import("../commands/rotate-key.ts")).rotateKey(hand, flags)),
    );
  hands
    .command("authority")
    .description("print the certificate of this home's brain, by whose key its hands know its approvals")
    .action(async () => exit(await (await import("../commands/authority.ts")).authority()));
  named(hands.command("address"))
    .description("let a hand that listens be called at an address that it names; without one, at none")
    .argument(...HAND_ARGUMENT)
    .argument("[url]", "like https://web-1.lan:8443")
    .option(...JSON_FLAG)
    .action(async (hand: string, url: string | undefined, flags) =>
      exit(await (await import("../commands/hand-address.ts")).address(hand, url, flags)),
    );
}

function addJoining(hands: Command, exit: Exit): void {
  const tags = () => new Option("--tags <a,b>", "what it is to be chosen by").argParser(listed);
  named(hands.command("invite"))
    .description("invite a host: prints the one command to paste there")
    .option("--name <name>", "what to call it (default: its own name)")
    .addOption(tags())
    .option("--expires <when>", "30m, 1h: an hour at most", "1h")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/invite.ts")).invite(flags)));
  hands
    .command("join")
    .description("let the brain that has invited this host work on it, until Ctrl-C")
    .argument("<url>", "as the invitation has it")
    .option("--token-file <file>", "holds the invitation (default: VIDRO_INVITATION, else stdin)")
    .option("--token <token>", "the invitation, which every user of this host can then see")
    .option("--name <name>", "what to call this host, unless the invitation says so (default: its own name)")
    .addOption(tags())
    .option("--workspace <folder>", "the folder to work in (default: this one)")
    .option("--transport <ws|http>", "how to come to the brain: ws, or messages that are signed one by one")
    .option("--state <folder>", "where it keeps its identity and its ledger")
    .option("--json", "one line of JSON when it is connected")
    .action(async (url: string, flags) => exit(await (await import("../commands/join.ts")).join(url, flags)));
}

function addServing(hands: Command, exit: Exit): void {
  hands
    .command("serve")
    .description("let clients of the TCP agent protocol work with this folder")
    .requiredOption("--tcp <host:port>", "where to listen; port 0 picks a free one, none is 4000")
    .option("--workspace <folder>", "the folder to work in (default: this one)")
    .option("--name <name>", "what to call this host (default: its own name)")
    .option("--tls-cert <file>", "a certificate in PEM; beyond this machine it is needed")
    .option("--tls-key <file>", "its key in PEM")
    .option("--brain <file>", "the certificate of the one brain whose approvals count (vidro hands authority)")
    .option("--lab", "a laboratory: no TLS, though others can reach it")
    .option("--json", "one line of JSON when it is ready")
    .action(async (flags) => exit(await (await import("../commands/hands-serve.ts")).serve(flags)));
}

function addDialling(hands: Command, exit: Exit): void {
  hands
    .command("dial")
    .description("have the brain dial a hand that listens, from now on and until it is revoked")
    .argument("<address>", "like tls://web-2.lan:4000; tcp:// is for this machine")
    .requiredOption("--token <token>", "one of the hand's own, with the scopes hand and approve; - reads it from stdin")
    .option("--name <name>", "what to call it (default: its own name)")
    .addOption(new Option("--tags <a,b>", "what it is to be chosen by").argParser(listed))
    .option("--ca <file>", "believe the hand by this certificate in PEM")
    .option("--lab", "a laboratory: no TLS, though it is another machine")
    .option(
      "--url <url>",
      "the brain to talk to (default: VIDRO_URL, else the running daemon); its token is VIDRO_TOKEN",
    )
    .option(...JSON_FLAG)
    .action(async (address: string, flags) => exit(await (await import("../commands/dial.ts")).dial(address, flags)));
}
