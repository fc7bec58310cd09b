import { resolve } from "node:path";
import type { Daemon } from "@vidro/brain";
import type { Config } from "@vidro/brain/config";
import { Fault, HTTP_LIMITS } from "@vidro/core";
import { jsonLine } from "@vidro/core/text";
import { openLogFile } from "@vidro/hands/background";
import { serveSignals } from "@vidro/hands/signals";
import manifest from "../../package.json" with { type: "json" };
import { EXIT } from "../program/exit-codes.ts";
import { findArchives } from "../program/archive-source.ts";
import { requireFolder } from "../program/require-folder.ts";
import { onUncaught } from "../view/interrupts.ts";
import { paint } from "../view/symbols.ts";
import { openErrorLines, say, writeJson } from "../program/output.ts";
import { commandConfig, homeFolder } from "../program/settings.ts";

/** Flags of `vidro up`. */
interface UpFlags {
  readonly port?: number;
  readonly host?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly log?: string;
  readonly supervised?: boolean;
  readonly store?: string;
  readonly onRestart?: "resume" | "hold";
  readonly restored?: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly localHand: boolean;
  readonly southboundPort?: number;
  readonly southboundHost?: readonly string[];
}

/** Runs the daemon in this process until a signal ends it. */
export async function up(flags: UpFlags): Promise<number> {
  const config = configOf(flags);
  const args = keptFlags(process.argv.slice(process.argv.indexOf("up") + 1));
  if (flags.detach === true) {
    const { startDaemonInBackground } = await import("./background-daemon.ts");
    return startDaemonInBackground({ args, workspace: requireFolder("."), json: flags.json === true });
  }
  const { startDaemon } = await import("@vidro/brain");
  const tls = tlsOf(config);
  const ending = signals();
  let daemon: Daemon | undefined;
  serveSignals(
    () => daemon?.reloadables() ?? [],
    (...note) => daemon?.log(...note),
  );
  daemon = await startDaemon({
    home: homeFolder(),
    config,
    workspace: requireFolder("."),
    host: config.get("host"),
    port: config.get("port"),
    onRestart: config.get("on_restart"),
    localHand: config.get("local_hand"),
    restored: flags.restored === true,
    southbound: southboundOf(config),
    version: manifest.version,
    onUncaught,
    writeLog: flags.log === undefined ? (flags.json === true ? toStderr : warningsToStderr) : openLogFile(flags.log),
    command: { args, ...(flags.log === undefined ? {} : { log: resolve(flags.log) }) },
    ...(tls === undefined ? {} : { tls }),
  });
  tell(daemon, flags.json === true);
  const signal = await ending;
  if (flags.json !== true) say("Ending; once more ends it at once.");
  await whenClosed(daemon);
  return signal === "SIGINT" ? EXIT.aborted : EXIT.ok;
}

/** The flags that a daemon is restarted with: all but those that are about one start or its terminal. */
function keptFlags(words: readonly string[]): readonly string[] {
  return words.filter((word, at) => !ONCE.includes(word) && !/^--log(?:=|$)/.test(word) && words[at - 1] !== "--log");
}

const ONCE = ["-d", "--detach", "--json", "--restored"];

function tell(daemon: Daemon, json: boolean): void {
  const { url, southbound, tokenFile, pid } = daemon;
  if (json)
    return writeJson({
      ready: true,
      url,
      ...(southbound === undefined ? {} : { southbound }),
      token_file: tokenFile,
      pid,
    });
  say(`${paint("green", "Vidro is up")} at ${paint("bold", url)}, process ${pid}.`);
  say(`  console: ${daemon.consoleLink()}`);
  say("           The link signs one browser in, within a minute; vidro console prints the next one.");
  say(`  token:   ${tokenFile}`);
  say(`  docs:    ${url}/docs`);
  if (southbound !== undefined) say(`  hands:   ${southbound}`);
  say("  Ctrl-C ends it; runs that are open then go on at the next start.");
}

/** Resolves with the first signal; the second one ends the process at once: the journal has everything. */
function signals(): Promise<"SIGINT" | "SIGTERM"> {
  return new Promise((done) => {
    let isEnding = false;
    const heard = (signal: "SIGINT" | "SIGTERM"): void => {
      if (isEnding) process.exit(signal === "SIGINT" ? EXIT.aborted : EXIT.terminated);
      isEnding = true;
      done(signal);
    };
    process.on("SIGINT", heard).on("SIGTERM", heard);
  });
}

/** Closes the daemon, and waits for it at most `HTTP_LIMITS.stopMs`. */
async function whenClosed(daemon: Daemon): Promise<void> {
  const late = Promise.withResolvers<void>();
  const impatience = setTimeout(late.resolve, HTTP_LIMITS.stopMs);
  await Promise.race([daemon.close(), late.promise]);
  clearTimeout(impatience);
}

/** The settings with the values of the flags. */
function configOf(flags: UpFlags): Config {
  return commandConfig({
    port: flags.port,
    host: flags.host,
    store: flags.store,
    on_restart: flags.onRestart,
    // Commander sets it to true without the flag, which must not override the file.
    local_hand: flags.localHand ? undefined : false,
    tls_cert: flags.tlsCert,
    tls_key: flags.tlsKey,
    southbound_port: flags.southboundPort,
    southbound_hosts: flags.southboundHost,
  });
}

function tlsOf(config: Config): { readonly cert: string; readonly key: string } | undefined {
  const [cert, key] = [config.get("tls_cert"), config.get("tls_key")];
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new Fault("BAD_REQUEST", "TLS needs both --tls-cert and --tls-key.");
  return { cert, key };
}

/** Where hands on other machines connect. */
function southboundOf(config: Config) {
  const [hosts = [], port] = [config.get("southbound_hosts"), config.get("southbound_port")];
  const archives = findArchives(manifest.version);
  return { hosts, ...(port === undefined ? {} : { port }), ...(archives === undefined ? {} : { archives }) };
}

/** Writes lines of the log to stderr; lines that are not read in time are dropped, so that they do not fill memory. */
const toStderr = openErrorLines((dropped) => {
  const message = "Lines of the log were dropped because their reader was too slow.";
  return jsonLine({ timestamp: new Date().toISOString(), level: "warn", event: "log.dropped", message, dropped });
});

/** Writes warnings and errors of the log to stderr, for a person at a terminal. */
function warningsToStderr(line: string): void {
  if (/"level":"(?:warn|error)"/.test(line)) toStderr(line);
}
