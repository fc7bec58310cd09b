import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "@vidro/core";
import type { openBrowser } from "../tests/support/console-browser.ts";
import { fakeOpenAi } from "../tests/support/fake-openai.ts";
import { seedStore } from "../tests/support/seed-store.ts";
import { talkingModel } from "../tests/support/talking-model.ts";
import { CHROMIUM, peerNeed } from "./contest/needs.ts";
import { atMost } from "./contest/report.ts";
import type { Figure } from "./contest/report.ts";
import { vidroUp } from "./contest/server.ts";
import type { Server } from "./contest/server.ts";
import { figure, spreadOf } from "./contest/spread.ts";

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

const ROUNDS = 5;
const STEPS = 2000;
const RUN = "run_00000000-0000-7000-8000-000000000001";
const LIVE_RUN = "run_00000000-0000-7000-8000-000000000002";
const FRAMES = 180;
/** The model of the live run says this so many times, with a rest before each. */
const LIVE_WORD = "word";
const LIVE_WORDS = 20_000;
const LIVE_REST_MS = 10;

/** One opening of the run's page. */
interface Opening {
  /** From the navigation until the first items are painted. */
  readonly paintMs: number;
  /** Until the page has the whole journal. */
  readonly wholeMs: number;
  /** The frame that 95 of 100 are shorter than, while the page scrolls. */
  readonly frameMs: number;
  /** The same while a run of that length is live: its model speaks, and the page shows each word. */
  readonly liveMs: number;
  /** The same on an empty page of the same browser. */
  readonly emptyMs: number;
}

/** How soon the console shows a long run, and whether it stays smooth. */
export const consolePage: Figure = {
  name: "console",
  title: "Console",
  method: `A run of ${(STEPS * 5).toLocaleString("en")} events is opened in Chromium without a screen or a graphics processor: from the navigation to the first paint of its conversation and to its last entry, and the 95th percentile of ${FRAMES} frames while the page scrolls through it. *Live*: the same frames of a run of that length that goes on, while its model says ${1000 / LIVE_REST_MS} words a second. The frames of an empty page of the same browser are the floor: it paints at most 60 times a second.`,
  needs: [CHROMIUM, peerNeed("playwright-core", "tests")],
  async measure() {
    // Loaded here: it reads files of packages that not every machine has.
    const browsers = await import("../tests/support/console-browser.ts");
    const home = mkdtempSync(join(tmpdir(), "vidro-bench-"));
    await seedStore(join(home, ".local/state/vidro"), [
      { id: RUN, thread: "bench", task: "a long run", events: longRun() },
      { id: LIVE_RUN, thread: "live", task: "a long run that goes on", events: longRun(), isOpen: true },
    ]);
    const model = await fakeOpenAi(
      talkingModel(Array(LIVE_WORDS).fill(`${LIVE_WORD} `), LIVE_REST_MS, Promise.resolve()),
    );
    const server = await vidroUp(home, { VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
    const browser = await browsers.openBrowser();
    try {
      const openings: Opening[] = [];
      for (let round = 0; round < ROUNDS; round += 1) openings.push(await measured(browser, server));
      const spread = (name: keyof Opening) => spreadOf(openings.map((opening) => opening[name]));
      const ratio = (name: "frameMs" | "liveMs") =>
        spreadOf(openings.map((opening) => opening[name] / opening.emptyMs));
      const row = (what: string, name: keyof Opening): readonly string[] => [what, figure(spread(name).median)];
      return {
        tables: [
          [
            ["", "ms"],
            row("first paint", "paintMs"),
            row("whole journal", "wholeMs"),
            row("frame, p95, scrolling", "frameMs"),
            row("frame, p95, live", "liveMs"),
            row("frame, p95, empty page", "emptyMs"),
          ],
        ],
        goals: [
          atMost("first paint, ms", 1000, spread("paintMs")),
          atMost("frame p95, scrolling ÷ empty page", 1.05, ratio("frameMs")),
          atMost("frame p95, live ÷ empty page", 1.05, ratio("liveMs")),
        ],
      };
    } finally {
      await browser.close();
      await server.end();
      await model.close();
      rmSync(home, { recursive: true, force: true });
    }
  },
};

async function measured(browser: Browser, { url, token }: Server): Promise<Opening> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto("about:blank");
  const emptyMs = await framesOf(page);
  await page.goto(`${url}/`);
  const body = JSON.stringify({ token });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  await page.evaluate(`fetch("/console/session", ${JSON.stringify(init)})`);
  await page.goto(`${url}/runs/${RUN}`, { waitUntil: "commit" });
  await page.waitForSelector(".said.me");
  const paintMs = await page.evaluate<number>(
    "new Promise((done) => requestAnimationFrame(() => done(performance.now())))",
  );
  await page.waitForSelector(".state.ok");
  const wholeMs = await page.evaluate<number>("performance.now()");
  const frameMs = await framesOf(page);
  await page.goto(`${url}/runs/${LIVE_RUN}`);
  await page.getByText(LIVE_WORD).first().waitFor();
  const liveMs = await framesOf(page);
  await page.close();
  return { paintMs, wholeMs, frameMs, liveMs, emptyMs };
}

/** The 95th percentile of the frames of a page that scrolls. */
async function framesOf(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((done) => {
    const times = [];
    const step = (now) => {
      times.push(now);
      scrollBy(0, 60);
      if (times.length <= ${FRAMES}) return requestAnimationFrame(step);
      const spans = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
      done(spans[Math.floor(spans.length * 0.95)]);
    };
    requestAnimationFrame(step);
  })`);
}

/** The events of a run of many steps, each with one command. */
function longRun(): readonly Event[] {
  return Array.from({ length: STEPS }, (_, index): readonly Event[] => {
    const id = `act_${index}`;
    const action = { id, tool: "command", input: { command: "echo", args: [String(index)] }, callId: id };
    const output = { text: `${index}\n`, bytes: 5, truncated: false, sha256: "" };
    const plan = { kind: "facts", facts: "none" } as const;
    const verdict = { decision: "allow", rule: "bench", class: "read", reason: "" } as const;
    return [
      { type: "model.called", step: index + 1, attempt: 1 },
      { type: "model.replied", model: "none", text: "", usage: { inputTokens: 1, outputTokens: 1 }, action },
      { type: "policy.judged", action: id, plan, hash: "", policy: "", verdict },
      { type: "action.started", action, hand: "local" },
      {
        type: "action.finished",
        action: id,
        outcome: {
          kind: "process",
          exitCode: 0,
          signal: null,
          timedOut: false,
          durationMs: 1,
          stdout: output,
          stderr: { ...output, text: "", bytes: 0 },
        },
      },
    ];
  }).flat();
}
