import { statSync } from "node:fs";
import { join } from "node:path";
import { findDaemon } from "@vidro/brain/daemon-file";
import type { DaemonFile } from "@vidro/brain/daemon-file";
import { BACKGROUND_LIMITS, CLIENT_LIMITS } from "@vidro/core";
import { readLastLines, startDetached, waitUntil } from "@vidro/hands/background";
import { EXIT } from "../program/exit-codes.ts";
import { indentText, say, writeJson } from "../program/output.ts";
import { homeFolder } from "../program/settings.ts";
import { paint } from "../view/symbols.ts";

/** The log file of a daemon that runs in the background. */
export function daemonLogFile(home: string): string {
  return join(home, "daemon.log");
}

/** How a daemon is started in the background. */
interface BackgroundStart {
  /** Flags of `vidro up`. */
  readonly args: readonly string[];
  /** The folder that its hand works in. */
  readonly workspace: string;
  readonly json?: boolean;
}

/** Starts the daemon in the background, unless it is up, and returns when it is ready; gives the exit code. */
export async function startDaemonInBackground(start: BackgroundStart): Promise<number> {
  const home = homeFolder();
  const running = await findDaemon(home);
  if (running !== undefined) {
    if (start.json !== true) say("Vidro is up already; vidro restart starts it again, with the flags that it has.");
    return tell(running, start.json === true);
  }
  (await import("@vidro/brain/home")).makeFolder(home);
  const log = daemonLogFile(home);
  const from = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const self = [process.execPath, ...process.execArgv, process.argv[1] ?? ""];
  const child = startDetached({
    argv: [...self, "up", ...start.args, "--log", log],
    cwd: start.workspace,
    log,
  });
  let ended: number | undefined;
  child.once("error", () => (ended = EXIT.failed)).once("exit", (code) => (ended = code ?? EXIT.failed));
  const slow = setTimeout(() => say(`Process ${child.pid} is starting.`), CLIENT_LIMITS.noticeMs);
  let daemon: DaemonFile | undefined;
  const isReady = async (): Promise<boolean> => {
    daemon = await findDaemon(home);
    return ended !== undefined || (daemon?.pid === child.pid && (await answers(daemon?.url ?? "")));
  };
  const isOver = await waitUntil(isReady, BACKGROUND_LIMITS.readyMs).finally(() => clearTimeout(slow));
  if (isOver && ended === undefined && daemon !== undefined) return tell(daemon, start.json === true);
  for (const line of readLastLines(log, BACKGROUND_LIMITS.shownLines, { from })) say(...indentText(line, 0));
  const why = ended === undefined ? `is not ready after ${BACKGROUND_LIMITS.readyMs / 1000} s` : "ended";
  say(`${paint(["red", "bold"], "vidro:", process.stderr)} The daemon did not come up: process ${child.pid} ${why}.`);
  say(`  its log: ${log}`);
  return ended || EXIT.failed;
}

/** Whether a daemon says that it is ready; one with TLS has written its file when it was. */
async function answers(url: string): Promise<boolean> {
  if (url.startsWith("https:")) return true;
  const signal = AbortSignal.timeout(CLIENT_LIMITS.probeMs);
  return fetch(`${url}/readyz`, { signal }).then(
    async (response) => {
      await response.body?.cancel();
      return response.ok;
    },
    () => false,
  );
}

function tell({ url, pid, tokenFile, log }: DaemonFile, json: boolean): number {
  if (json) writeJson({ ready: true, url, token_file: tokenFile, pid, ...(log === undefined ? {} : { log }) });
  else {
    say(`${paint("green", "Vidro is up")} at ${paint("bold", url)}, process ${pid}.`);
    say(`  token: ${tokenFile}`);
    say(log === undefined ? "  It logs to its terminal or its service." : "  log:   vidro logs -f");
    say("  end:   vidro stop");
  }
  return EXIT.ok;
}
