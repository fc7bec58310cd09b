import type { ServerResponse } from "node:http";
import { Fault } from "@vidro/core";
import type { ConsoleFile, ConsoleFiles } from "../../http/console-file.ts";
import type { Reply, Route, RouteCall } from "../../http/route.ts";
import { MISSING_PAGE, MISSING_POLICY } from "./missing-page.ts";

/** The addresses of the console's pages; the script on the page shows what the address names. */
const PAGES = [
  "/",
  "/chat",
  "/chat/{thread}",
  "/runs",
  "/runs/{run}",
  "/waiting",
  "/waiting/{run}",
  "/hands",
  "/hands/{hand}",
  "/agents",
  "/policy",
  "/knowledge",
  "/settings",
  "/answer",
];

/** Only files of the brain itself: no inline script or style, no request to another origin, no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The routes of the pages and of the files that they load. */
export function pageRoutes(files: ConsoleFiles): readonly Route[] {
  return [
    ...PAGES.map((path) => page(path, (call) => showPage(files, call))),
    page("/assets/{file}", async (call) => showAsset(files, call)),
    ...["/docs", "/docs/{page}", "/docs/{part}/{page}"].map((path) => page(path, (call) => showDoc(files, call))),
  ];
}

function page(path: string, handle: Route["handle"]): Route {
  const produces = ["text/html"];
  return { method: "GET", path, summary: "A page of the console", scope: undefined, answer: {}, produces, handle };
}

async function showPage(files: ConsoleFiles, call: RouteCall): Promise<Reply> {
  const file = await files("index.html");
  if (file === undefined) return { stream: showMissing };
  return fileReply(file, call, { "content-security-policy": POLICY, "cache-control": "no-cache" });
}

/** Documentation is text with a style: it needs no script. */
const DOC_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async function showDoc(files: ConsoleFiles, call: RouteCall): Promise<Reply> {
  const { part, page: name = "index" } = call.params;
  const file = await files(part === undefined ? `docs/${name}.html` : `docs/${part}/${name}.html`);
  if (file === undefined) throw new Fault("NOT_FOUND", "There is no such page of documentation: /docs lists them.");
  return fileReply(file, call, { "content-security-policy": DOC_POLICY, "cache-control": "no-cache" });
}

async function showAsset(files: ConsoleFiles, call: RouteCall): Promise<Reply> {
  const name = call.params["file"] ?? "";
  const file = await files(`assets/${name}`);
  if (file === undefined) throw new Fault("NOT_FOUND", "The console has no such file: reload the page.");
  // The name has a hash of the content.
  return fileReply(file, call, { "cache-control": "public, max-age=31536000, immutable" });
}

function fileReply(file: ConsoleFile, { headers }: RouteCall, more: { readonly [name: string]: string }): Reply {
  const { type, etag } = file;
  const isPacked = takesBrotli(headers["accept-encoding"]?.toString() ?? "");
  return {
    async stream(response: ServerResponse) {
      response.setHeader("vary", "Accept, Accept-Encoding");
      if (headers["if-none-match"] === etag) return void response.writeHead(304, { ...more, etag }).end();
      const bytes = isPacked ? file.brotli : file.bytes;
      const encoding = isPacked ? { "content-encoding": "br" } : {};
      response.writeHead(200, { ...more, ...encoding, etag, "content-type": type, "content-length": bytes.length });
      response.end(bytes);
    },
  };
}

/** Whether an Accept-Encoding names brotli; with a quality of 0 it refuses it. */
function takesBrotli(accepted: string): boolean {
  return accepted.split(",").some((coding) => /^\s*br\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}

async function showMissing(response: ServerResponse): Promise<void> {
  response.writeHead(503, { "content-type": "text/html; charset=utf-8", "content-security-policy": MISSING_POLICY });
  response.end(MISSING_PAGE);
}
