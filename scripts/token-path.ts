import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../packages/brain/src/config.ts";
import { startDaemon } from "../packages/brain/src/start-daemon.ts";
import { fakeOpenAi, textWith } from "../tests/support/fake-openai.ts";

/* The source files that handle a token on its way from a model's server to an SSE client, measured by V8's call counts. */

/**
 * The files that hand a token on, in order. Every other file of the path is called by one of them about the token,
 * returns its result to the caller, and knows nothing of what comes next.
 */
const PASSING = [
  "brain/src/models/bounded-fetch.ts",
  "brain/src/models/ai-sdk.ts",
  "brain/src/run/call-model.ts",
  "brain/src/run/live-bus.ts",
  "brain/src/run/follow.ts",
  "brain/src/stream/feed.ts",
  "brain/src/stream/run-stream.ts",
].map((path) => `packages/${path}`);

/** The files of a path that hand the token on, and those that are asked on the way. */
export function splitPath(path: readonly string[]): {
  readonly passing: readonly string[];
  readonly asked: readonly string[];
} {
  const missing = PASSING.filter((file) => !path.includes(file));
  if (missing.length > 0) throw new Error(`No token came through ${missing.join(", ")}.`);
  return { passing: PASSING, asked: path.filter((file) => !PASSING.includes(file)).toSorted() };
}

const TOKENS = 100;
const WARM_UP = 20;
const PACE_MS = 10;
const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);

/** A path of the repository for each file in which some function was called once or more for each token. */
export async function tokenPath(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-token-path-"));
  // Tokens come one by one, so that no two of them share a read or a write.
  const model = await fakeOpenAi((response) =>
    textWith(...range(WARM_UP + TOKENS).flatMap((index) => [` word${index}`, sleep(index * PACE_MS)]))(response),
  );
  const daemon = await startDaemon({
    home: join(folder, "state"),
    config: readConfig({ env: { VIDRO_MODEL: "m", VIDRO_MODEL_URL: model.url, PATH: process.env["PATH"] } }),
    workspace: folder,
    host: "127.0.0.1",
    port: 0,
    onRestart: "resume",
    localHand: true,
    version: "0",
    writeLog: () => undefined,
  });
  const session = new Session();
  session.connect();
  try {
    const authorization = `Bearer ${readFileSync(daemon.tokenFile, "utf8").trim()}`;
    const ask = (path: string, body: object): Promise<Response> =>
      fetch(daemon.url + path, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify(body),
      });
    const { session_id: id } = (await (await ask("/agent/sessions", {})).json()) as { session_id: string };
    const { body } = await ask("/agent/generate", { session_id: id, prompt: "say something" });
    await session.post("Profiler.enable");
    let isMeasured = false;
    for await (const _ of body ?? []) {
      if (!isMeasured) await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
      isMeasured = true;
    }
    const { result } = await session.post("Profiler.takePreciseCoverage");
    return result.flatMap(({ url, functions }) => {
      const [, path = ""] = /(packages\/[^?]+)/.exec(url) ?? [];
      const isPassed = functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= TOKENS);
      return path !== "" && !path.includes("node_modules") && isPassed ? [path] : [];
    });
  } finally {
    session.disconnect();
    await daemon.close();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
