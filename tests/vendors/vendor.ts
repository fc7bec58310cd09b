import type { ServerResponse } from "node:http";
import { fakeOpenAi } from "../support/fake-openai.ts";
import type { FakeRequest } from "../support/fake-openai.ts";
import { imageFormat, isPdf } from "@vidro/core";
import type { JsonObject } from "@vidro/core";

/*
 * Servers that keep to the documented rules of one vendor each: they refuse a request as that vendor does when something
 * of an earlier reply is missing, altered or moved. A task takes STEPS calls of a tool, then the model answers.
 */

/** Calls of a tool before the answer. */
export const STEPS = 5;
/** The answer to the task. */
export const ANSWER = "All five files are read.";

/** A refusal: status and the vendor's error body. */
export interface Refusal {
  readonly status: number;
  readonly body: JsonObject;
}

/** The step at which the model makes a second call in the same reply, although it was asked for one. */
export const PARALLEL_STEP = 3;

/** The rules of one vendor. */
export interface Vendor {
  readonly name: string;
  /** Settings of a brain that uses this server. */
  env(url: string): { readonly [name: string]: string };
  /** Why the vendor does not let the request in, by its path and headers. */
  admit?(request: FakeRequest): Refusal | undefined;
  /** Type of its streams; that of server-sent events when left out. */
  readonly streamType?: string;
  /** Why the request is refused; undefined when the vendor takes it. */
  refuse(body: JsonObject): Refusal | undefined;
  /** Streams the reply: a call of `read_file` for the step's file, or ANSWER when `step` is beyond the last. */
  reply(response: ServerResponse, body: JsonObject, step: number): void;
  /** The parts of the request that a cache or a signature holds for: what never changes, and what only grows. */
  prefix(body: JsonObject): { readonly fixed: readonly unknown[]; readonly growing: readonly JsonObject[] };
  /** How many earlier replies the request holds. */
  repliesIn(body: JsonObject): number;
}

/** A running server, and what it has seen. */
export interface VendorServer {
  readonly env: { readonly [name: string]: string };
  readonly refusals: readonly string[];
  /** Bodies of the accepted requests. */
  readonly bodies: readonly JsonObject[];
  close(): Promise<void>;
}

/** The file that a step reads. */
export function fileOf(step: number): string {
  return `file-${step}.txt`;
}

/** Starts the server of a vendor; `before` runs before each reply, and the reply is withheld when it gives false. */
export async function serveVendor(
  vendor: Vendor,
  before: (step: number) => boolean = () => true,
): Promise<VendorServer> {
  const refusals: string[] = [];
  const bodies: JsonObject[] = [];
  const server = await fakeOpenAi((response, request) => {
    const { body } = request;
    const refusal = vendor.admit?.(request) ?? vendor.refuse(body);
    if (refusal !== undefined) {
      refusals.push(JSON.stringify(refusal.body));
      response.writeHead(refusal.status, { "content-type": "application/json" }).end(JSON.stringify(refusal.body));
      return;
    }
    const step = vendor.repliesIn(body) + 1;
    if (!before(step)) return;
    bodies.push(body);
    response.writeHead(200, { "content-type": vendor.streamType ?? "text/event-stream" });
    vendor.reply(response, body, step);
    response.end();
  });
  return { env: vendor.env(server.url), refusals, bodies, close: () => server.close() };
}

/** The first field of a body that the vendor does not know. */
export function unknownField(body: JsonObject, known: string): string | undefined {
  const fields = new Set(known.split(" "));
  return Object.keys(body).find((field) => !fields.has(field));
}

/** Writes server-sent events. */
export function send(response: ServerResponse, events: readonly JsonObject[], named = false): void {
  for (const event of events)
    response.write(`${named ? `event: ${textOf(event["type"])}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
}

/** A value of a parsed body as a list of objects. */
export function list(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

/** A value of a parsed body as a text; empty when it is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Why a vendor refuses an image in base64: it takes the four kinds, and the bytes have to be of the kind that is named. */
export function imageRefusal(mediaType: unknown, data: unknown): string | undefined {
  const format = imageFormat(Buffer.from(textOf(data), "base64"));
  if (format === undefined) return "Could not process image";
  return format.mediaType === mediaType ? undefined : `The image is ${format.mediaType}, not ${textOf(mediaType)}`;
}

/** Why a PDF is refused, by its type and its bytes. */
export function pdfRefusal(mediaType: unknown, data: unknown): string | undefined {
  if (mediaType !== "application/pdf") return `${textOf(mediaType)} is no type of a document`;
  return isPdf(Buffer.from(textOf(data), "base64")) ? undefined : "The PDF specified was not valid.";
}

/** The same for an image in a `data:` address. */
export function dataUrlRefusal(url: unknown): string | undefined {
  const [, mediaType, data] = /^data:([a-z/]+);base64,(.*)$/.exec(textOf(url)) ?? [];
  return data === undefined ? "Invalid image_url" : imageRefusal(mediaType, data);
}
