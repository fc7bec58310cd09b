import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../packages/brain/src/config.ts";
import { startDaemon } from "../packages/brain/src/start-daemon.ts";
import { fakeOpenAi, textWith } from "../tests/support/fake-openai.ts";

/* The source files that handle a token on its way from a model's server to an SSE client, measured by V8's call counts. */

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
