import { join, resolve } from "node:path";
import { MIB } from "@vidro/core";
import { EXIT } from "../program/exit-codes.ts";
import { say, writeJson } from "../program/output.ts";
import { commandConfig, homeFolder } from "../program/settings.ts";
import { paint } from "../view/symbols.ts";

/** Flags of `vidro worker`. */
interface WorkerFlags {
  readonly model: string;
  readonly socket?: string;
  readonly threads?: number;
  readonly context?: number;
  readonly memory?: number;
  readonly json?: boolean;
}

/** Serves a local model until a signal ends it; installs the engine first when it is missing. */
export async function runWorker(flags: WorkerFlags): Promise<number> {
  const config = commandConfig({ worker_socket: flags.socket });
  const { findGguf, installEngine, isEngineThere, serveWorker } = await import("@vidro/worker");
  const model = findGguf(resolve(flags.model));
  const ending = whenSignalled();
  const folder = resolve(config.get("worker_engine") ?? join(homeFolder(), "engine"));
  if (!isEngineThere(folder)) say(`Installing the engine into ${folder} (once, 83 MB).`);
  await installEngine(folder);
  const worker = await serveWorker(resolve(config.get("worker_socket")), {
    folder,
    model,
    ...(flags.threads === undefined ? {} : { threads: flags.threads }),
    ...(flags.context === undefined ? {} : { contextTokens: flags.context }),
    ...(flags.memory === undefined ? {} : { memoryBytes: flags.memory * MIB }),
  });
  const { socket, info } = worker;
  if (flags.json === true) writeJson({ ready: true, socket, model_info: info, pid: process.pid });
  else {
    say(`${paint("green", "The worker listens")} on ${paint("bold", socket)}, process ${process.pid}.`);
    say(`  use it: FAZAI_GEMMA_SOCK=${socket} VIDRO_MODEL=worker vidro run "<task>"`);
  }
  const signal = await ending;
  await worker.close();
  return signal === "SIGINT" ? EXIT.aborted : EXIT.ok;
}

/** Resolves with the first signal; the second one ends the process at once. */
function whenSignalled(): Promise<"SIGINT" | "SIGTERM"> {
  return new Promise((resolved) => {
    let isEnding = false;
    const heard = (signal: "SIGINT" | "SIGTERM"): void => {
      if (isEnding) process.exit(EXIT.terminated);
      isEnding = true;
      resolved(signal);
    };
    process.on("SIGINT", heard).on("SIGTERM", heard);
  });
}
