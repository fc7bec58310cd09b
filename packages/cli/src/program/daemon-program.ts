import { Option } from "commander";
import type { Command } from "commander";
import { addBrainFlags, JSON_FLAG, splitCommas } from "./flags.ts";
import type { Exit } from "./flags.ts";
import { cursor, port } from "./numbers.ts";

/** Adds the commands about the daemon itself. */
export function addDaemon(root: Command, exit: Exit): void {
  addUp(root, exit);
  addBackground(root, exit);
  addBackup(root, exit);
  addMigrate(root, exit);
  addStatus(root, exit);
}

function addUp(root: Command, exit: Exit): void {
  root
    .command("up")
    .description("start the daemon: a brain that serves HTTP, with a hand for this folder")
    .addOption(new Option("--port <n>", "port to listen on; 0 picks a free one (default: 3120)").argParser(port))
    .option("--host <address>", "address to listen on; beyond this machine only with TLS (default: 127.0.0.1)")
    .option("--tls-cert <file>", "the daemon's certificate, a file in PEM")
    .option("--tls-key <file>", "the key of the certificate, a file in PEM")
    .option("--store <address>", "PostgreSQL database that keeps all state, postgres://… (default: a file in the home)")
    .option("--bus <address>", "Redis through which brains on one store reach each other, redis://… (default: none)")
    .addOption(
      new Option(
        "--on-restart <way>",
        "whether runs left open by the last daemon go on or wait for vidro attach (default: resume)",
      ).choices(["resume", "hold"]),
    )
    .option("--restored", "the state was restored from a backup: ask before going on with each open run")
    .option("--no-local-hand", "execute nothing on this machine")
    .addOption(
      new Option(
        "--southbound-port <n>",
        "port that hands on other machines connect to (default: 3121, opened with the first invitation)",
      ).argParser(port),
    )
    .addOption(
      new Option(
        "--southbound-host <a,b>",
        "names and addresses by which other machines reach this one (default: VIDRO_SOUTHBOUND_HOSTS, else only this machine)",
      ).argParser(splitCommas),
    )
    .option("-d, --detach", "run it in the background and return when it is ready; vidro logs shows its log")
    .option("--log <file>", "write the log to this file, of bounded size, instead of stderr")
    .addOption(new Option("--supervised", "systemd starts and restarts it").hideHelp())
    .option("--json", "print one line of JSON when it is ready, and the log as JSON on stderr")
    .action(async (flags) => exit(await (await import("../commands/up.ts")).up(flags)));
}

function addBackground(root: Command, exit: Exit): void {
  root
    .command("stop")
    .description("end the daemon in order: it answers what it was asked; open runs go on at its next start")
    .option("--now", "do not wait for open requests")
    .action(async (flags) => exit(await (await import("../commands/stop.ts")).stopDaemon(flags)));
  root
    .command("restart")
    .description("end the daemon and start it again in the background, in its folder and with its flags")
    .action(async () => exit(await (await import("../commands/restart.ts")).restartDaemon()));
  root
    .command("logs")
    .description("show the log of the daemon that runs in the background")
    .option("-f, --follow", "go on until Ctrl-C")
    .addOption(new Option("-n, --lines <n>", "how many lines to begin with").argParser(cursor).default(50))
    .option("--json", "print the lines as they are in the file")
    .action(async (flags) => exit(await (await import("../commands/logs.ts")).showLogs(flags)));
  root
    .command("unit")
    .description("make the daemon a service of systemd: root one with its own user, others one of their own")
    .option("--dry-run", "only print what would be done")
    .option("--workspace <folder>", "folder that its hand works in (default: one beside its state, or the current one)")
    .action(async (flags) => exit(await (await import("../commands/unit.ts")).installDaemonUnit(flags)));
}

function addBackup(root: Command, exit: Exit): void {
  root
    .command("backup")
    .description("copy all state of this home into a new folder; the daemon may run meanwhile")
    .argument("<folder>", "the folder to make; it holds secrets, so only you may read it")
    .option(...JSON_FLAG)
    .action(async (folder, flags) => exit(await (await import("../commands/backup.ts")).backUp(folder, flags)));
  root
    .command("restore")
    .description("put the state of a backup in the place of this home; the next start asks about each open run")
    .argument("<folder>", "the folder of the backup")
    .option("--replace", "keep the state that is there now under another name, and replace it")
    .option(...JSON_FLAG)
    .action(async (folder, flags) => exit(await (await import("../commands/backup.ts")).restore(folder, flags)));
}

function addMigrate(root: Command, exit: Exit): void {
  root
    .command("migrate")
    .description("copy the journals and records of this home to PostgreSQL, and compare them; the file stays as it is")
    .option(
      "--store <address>",
      "the database, postgres://…; VIDRO_STORE keeps its password out of the list of processes",
    )
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/migrate.ts")).migrateStore(flags)));
}

function addStatus(root: Command, exit: Exit): void {
  addBrainFlags(root.command("status"))
    .description("show the status of the running daemon")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/status.ts")).showStatus(flags)));
  addBrainFlags(root.command("console"))
    .description("print a link to the daemon's web console that signs a browser in, once and within a minute")
    .action(async (flags) => exit(await (await import("../commands/console.ts")).printConsoleAddress(flags)));
}
