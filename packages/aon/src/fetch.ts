import { deferred } from "@vidro/core";
import { answerOfBody } from "./answer.ts";
import { errorBody, beginExchange } from "./aon.ts";
import type { Aon, AonExchange } from "./aon.ts";
import { blackBox } from "./black-box.ts";
import { codeOfStatus, faultOfThrown } from "./fault-of.ts";
import { fetchSink } from "./fetch-sink.ts";
import { glassBox } from "./glass-box.ts";
import { BOX_LIMITS } from "./limits.ts";
import { JSON_TYPE, NDJSON_TYPE, negotiate, varyWithAccept } from "./negotiate.ts";
import type { Sight } from "./negotiate.ts";
import { settingsOf } from "./settings.ts";
import type { AonOptions, AonRefusal, Settings } from "./settings.ts";

/** A route in the style of fetch; with Hono: `(request, aon) => app.fetch(request, { aon })`. */
export type AonFetch = (request: Request, aon: Aon) => Response | Promise<Response>;

/** AON before anything that answers a Request with a Response. */
export function aonFetch(route: AonFetch, options: AonOptions<Request> = {}): (request: Request) => Promise<Response> {
  const settings = settingsOf(options);
  return async (request) => {
    const sight = request.method === "HEAD" ? "black" : negotiate(request.headers.get("accept") ?? undefined);
    if (sight === undefined) {
      const message = `This answers in ${JSON_TYPE} or ${NDJSON_TYPE}; Accept takes neither.`;
      return plainError({ status: 406, message }, `req_${crypto.randomUUID()}`);
    }
    const refusal = await settings.refuse(request);
    if (refusal !== undefined) return plainError(refusal, `req_${crypto.randomUUID()}`);
    return sight === "glass" ? glass(route, request, settings) : black(route, request, settings);
  };
}

async function glass(route: AonFetch, request: Request, settings: Settings<Request>): Promise<Response> {
  const it = begin(request, settings, "glass");
  const refused = deferred<Response>();
  const sink = fetchSink(() => it.close(true));
  const box = glassBox(sink, it.encoder, settings);
  const refuse = (refusal: AonRefusal): void => {
    if (box.isOpen) return it.finish({ fault: faultOfRefusal(refusal) });
    it.close(false);
    refused.resolve(plainError(refusal, it.aon.requestId));
  };
  it.attach(box, refuse);
  const answer = answerOf(route, request, it.aon).then(async (response) => {
    const { status, headers } = response;
    if (!box.isOpen && status >= 300 && status < 500) {
      it.close(false);
      return withVary(response);
    }
    it.finish(answerOfBody(status, headers.get("content-type") ?? "", await response.text()));
    return sink.response;
  });
  const settled = answer.catch((thrown: unknown) => {
    const fault = faultOfThrown(thrown, settings.isProduction);
    if (fault.status < 500) refuse(fault);
    else it.finish({ fault });
    return sink.response;
  });
  const turn = setTimeout(() => box.open(), BOX_LIMITS.graceMs);
  return Promise.race([refused.promise, sink.response, settled]).finally(() => clearTimeout(turn));
}

async function black(route: AonFetch, request: Request, settings: Settings<Request>): Promise<Response> {
  const it = begin(request, settings, "black");
  const { requestId } = it.aon;
  const early = deferred<Response>();
  const box = blackBox(it.encoder, {
    ...settings,
    requestId,
    keepAlive: () => undefined,
    fail: ({ status = 500, code, message }) => early.resolve(plainError({ status, code, message }, requestId)),
  });
  it.attach(box, (refusal) => early.resolve(plainError(refusal, requestId)));
  const answer = answerOf(route, request, it.aon).catch((thrown: unknown) => {
    it.finish({ fault: faultOfThrown(thrown, settings.isProduction) });
    return early.promise;
  });
  const response = withVary(await Promise.race([answer, early.promise]));
  response.headers.set("X-AON-Report", box.report());
  settings.onHeld(box.held());
  it.close(false);
  return response;
}

function begin(request: Request, settings: Settings<Request>, sight: Sight): AonExchange {
  const wantsPerson = request.headers.get("x-crystal-mode")?.trim().toLowerCase() === "interactive";
  const it = beginExchange({ sight, wantsPerson, request }, settings);
  request.signal.addEventListener("abort", () => it.close(true), { once: true });
  return it;
}

async function answerOf(route: AonFetch, request: Request, aon: Aon): Promise<Response> {
  return route(request, aon);
}

/** A response whose headers may be changed, with `Vary: Accept`; the body is handed on untouched. */
function withVary({ body, status, statusText, headers: given }: Response): Response {
  const headers = new Headers(given);
  headers.set("Vary", varyWithAccept(headers.get("vary") ?? ""));
  return new Response(body, { status, statusText, headers });
}

function faultOfRefusal({ status, code = codeOfStatus(status), message = "The request is refused." }: AonRefusal) {
  return { code, message, status };
}

function plainError(refusal: AonRefusal, traceId: string): Response {
  const headers = { "Content-Type": `${JSON_TYPE}; charset=utf-8`, Vary: "Accept" };
  return new Response(errorBody(faultOfRefusal(refusal), traceId), { status: refusal.status, headers });
}
