import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { startChromium } from "./chromium.ts";
import { buildConsole } from "../../scripts/console.js";
import { textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { RunningDaemon } from "../../packages/cli/src/daemon.fixture.ts";
import type { Stage } from "../../packages/cli/src/stage.fixture.ts";

const WAIT_MS = 60_000;
const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const JSQR = readFileSync(new URL("../node_modules/jsqr/dist/jsQR.js", import.meta.url), "utf8");

const RUN_AXE = `(async (rules) => {
  const { violations } = await axe.run({ resultTypes: ["violations"], ...rules });
  const isSerious = ({ impact }) => impact === "serious" || impact === "critical";
  return violations.filter(isSerious).map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" "));
})`;

/** Parts of the page that stick out of the screen, and are in nothing that scrolls or ends in an ellipsis. */
const OVERFLOWS = `(() => {
  const isMeant = (one) => {
    const { overflowX, textOverflow } = getComputedStyle(one);
    return overflowX === "auto" || overflowX === "scroll" || textOverflow === "ellipsis" || one.matches(".hidden, .skip");
  };
  const isScrolled = (one) => isMeant(one) || (one.parentElement !== null && isScrolled(one.parentElement));
  const isOut = (one) => one.getBoundingClientRect().right > innerWidth + 1;
  const out = [...document.querySelectorAll("body *")].filter((one) => isOut(one) && !isScrolled(one));
  const isWide = document.documentElement.scrollWidth > innerWidth;
  return [...(isWide ? ["the page"] : []), ...out.map((one) => one.outerHTML.slice(0, 120))];
})()`;

/** Opens a browser for the console; builds the console when its sources have changed. */
export async function openBrowser(): Promise<Browser> {
  buildConsole();
  return startChromium();
}

/** A page of the console, and whatever went wrong on it. */
export class ConsolePage {
  readonly page: Page;
  /** Errors on the browser's console and requests that left the brain's origin. */
  readonly troubles: string[] = [];
  readonly url: string;

  private constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
    page.setDefaultTimeout(WAIT_MS);
    page.on("pageerror", ({ message }) => this.troubles.push(message));
    page.on("console", (said) => {
      if (said.type() === "error" && !this.#isExpected(said.text())) this.troubles.push(said.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(`${url}/`)) this.troubles.push(`request to ${request.url()}`);
    });
  }

  /** Opens a page that is signed in by a link of `vidro console`; resolves to it and to the link. */
  static async signIn(
    browser: Browser,
    stage: Stage,
    daemon: RunningDaemon,
  ): Promise<{ readonly shown: ConsolePage; readonly link: string }> {
    const { stdout } = await stage.run("console");
    const link = stdout.trim();
    const shown = new ConsolePage(await browser.newPage({ viewport: { width: 1280, height: 800 } }), daemon.url);
    await shown.page.goto(link);
    await shown.page.getByLabel("What should be done?").waitFor();
    return { shown, link };
  }

  /** Opens an address of the console in a browser that is not signed in. */
  static async open(
    browser: Browser,
    address: string,
    viewport: { width: number; height: number },
  ): Promise<ConsolePage> {
    const context = await browser.newContext({ viewport });
    const opened = new ConsolePage(await context.newPage(), new URL(address).origin);
    await opened.page.goto(address);
    return opened;
  }

  /** Goes to a path of the console. */
  async open(path: string): Promise<void> {
    await this.page.goto(this.url + path);
    await this.page.locator("main h1").first().waitFor({ state: "attached" });
  }

  /** Sends a request of the API with the page's session; resolves to the answer. */
  async post(path: string, data: JsonObject): Promise<JsonObject> {
    const answer = await this.page.request.post(this.url + path, { data, headers: { origin: this.url } });
    assert.ok(answer.ok(), await answer.text());
    return (await answer.json()) as JsonObject;
  }

  /** Starts a run; resolves to its id when its page says that it has ended or waits for a person. */
  async startRun(task: string, model?: string): Promise<string> {
    const body = { task, ...(model === undefined ? {} : { model }) };
    const id = textIn(await this.post("/v1/runs", body), "id") ?? "";
    await this.open(`/runs/${id}`);
    await this.page.locator(".chips .state:not(.running)").waitFor();
    return id;
  }

  /** What sticks out of the screen to the right, where it cannot be scrolled to. */
  async overflows(): Promise<readonly string[]> {
    return (await this.page.evaluate(OVERFLOWS)) as readonly string[];
  }

  /** Asserts that axe finds nothing serious on the page, in both themes; themes differ only in their colours. */
  async assertAccessible(): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.evaluate(AXE);
      const rules = colorScheme === "light" ? {} : { runOnly: { type: "rule", values: ["color-contrast"] } };
      const found = (await this.page.evaluate(`${RUN_AXE}(${JSON.stringify(rules)})`)) as readonly string[];
      assert.deepEqual(found, [], `${this.page.url()} in ${colorScheme}`);
    }
  }

  /** A refused connection is on the browser's console as an error of its own; the page shows a banner for it. */
  #isExpected(text: string): boolean {
    return /ERR_CONNECTION_|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_SOCKET|ERR_NETWORK/.test(text);
  }
}

/** The text of the QR code in a picture, read in the browser by a decoder that is not ours. */
export async function readQr(picture: Buffer, page: Page): Promise<string | undefined> {
  await page.evaluate(`var module = {}; ${JSQR}; globalThis.jsQR ??= module.exports`);
  const found: unknown = await page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${picture.toString("base64")}"), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return jsQR(canvas.getImageData(0, 0, image.width, image.height).data, image.width, image.height)?.data;
  })()`);
  return typeof found === "string" ? found : undefined;
}

/** The entries of a run's journal, as the API has them. */
export async function readJournal({ url, token }: RunningDaemon, run: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${token}`, accept: "application/x-ndjson" };
  const answer = await fetch(`${url}/v1/runs/${run}/events?live=false`, { headers });
  const lines = (await answer.text()).trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as { seq?: number; event?: { type: string } })
    .flatMap(({ seq, event }) => (seq === undefined || event === undefined ? [] : [`${seq} ${event.type}`]));
}
