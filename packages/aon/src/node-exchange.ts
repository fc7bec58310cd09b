import type { IncomingMessage } from "node:http";
import { errorBody, beginExchange } from "./aon.ts";
import type { Aon, AonExchange } from "./aon.ts";
import { blackBox } from "./black-box.ts";
import type { AonBox } from "./box.ts";
import { disguise } from "./response-disguise.ts";
import { codeOfStatus, faultOfThrown } from "./fault-of.ts";
import type { AonFault } from "./fault-of.ts";
import { glassBox } from "./glass-box.ts";
import { BOX_LIMITS } from "./limits.ts";
import { JSON_TYPE, negotiate, NDJSON_TYPE } from "./negotiate.ts";
import type { Sight } from "./negotiate.ts";
import { beforeHead, provideJson } from "./node-response.ts";
import type { NodeResponse } from "./node-response.ts";
import { nodeSink } from "./node-sink.ts";
import { keepProcessing } from "./processing.ts";
import type { AonRefusal, Settings } from "./settings.ts";

/** A request of node:http under AON, for any framework. */
export interface NodeExchange {
  readonly aon: Aon;
  /** Begins the work: a glass box opens after a short delay, unless the route answers first. */
  readonly open: () => void;
  /** Ends with a thrown value; false when the framework should answer it as an HTTP error. */
  fail(thrown: unknown): boolean;
}

const exchanges = new WeakMap<object, NodeExchange>();

/** The AON of a request; a TypeError when the request did not come through AON. */
export function aonOf(request: object): Aon {
  const found = exchangeOf(request);
  if (found === undefined) throw new TypeError("This request did not come through AON. Put aon() before the route.");
  return found.aon;
}

/** The exchange of a request of node:http, Express or Fastify. */
export function exchangeOf(request: object): NodeExchange | undefined {
  const raw = "raw" in request && typeof request.raw === "object" ? request.raw : undefined;
  return exchanges.get(request) ?? (raw ? exchanges.get(raw) : undefined);
}

/** The input of a node exchange. */
export interface NodeFacts<R> {
  readonly request: R;
  readonly raw: IncomingMessage;
  readonly response: NodeResponse;
}

/** Puts a request under AON; undefined when it is answered already, here or before. */
export async function nodeExchange<R>(facts: NodeFacts<R>, settings: Settings<R>): Promise<NodeExchange | undefined> {
  const { raw, response } = facts;
  // AON installed both for the app and for a route gives one box, not two.
  const before = exchanges.get(raw);
  if (before !== undefined) return before;
  provideJson(response);
  const sight = raw.method === "HEAD" ? "black" : negotiate(raw.headers.accept);
  if (response.headersSent || response.writableEnded) return undefined;
  if (sight === undefined) {
    const message = `This answers in ${JSON_TYPE} or ${NDJSON_TYPE}; Accept takes neither.`;
    answerPlainly(response, { status: 406, code: "NOT_ACCEPTABLE", message }, "");
    return undefined;
  }
  const refusal = await settings.refuse(facts.request);
  if (refusal !== undefined) {
    answerPlainly(response, refusal, "");
    return undefined;
  }
  const made = sight === "glass" ? glass(facts, settings) : black(facts, settings);
  exchanges.set(raw, made);
  return made;
}

function glass<R>(facts: NodeFacts<R>, settings: Settings<R>): NodeExchange {
  const { response } = facts;
  const it = begin(facts, settings, "glass");
  const truth = disguise(response, {
    isOpen: () => box.isOpen,
    isOver: () => box.isOver,
    answer: it.finish,
    stepAside() {
      it.close(false);
      beforeHead(response, () => undefined);
    },
  });
  const box: AonBox = glassBox(nodeSink(response, truth), it.encoder, settings);
  it.attach(box, (refusal) => {
    response.statusCode = refusal.status;
    response.json?.(JSON.parse(refusalBody(refusal, it.aon.requestId)));
  });
  return {
    aon: it.aon,
    open: () => void setTimeout(() => box.open(), BOX_LIMITS.graceMs),
    fail(thrown) {
      const fault = faultOfThrown(thrown, settings.isProduction);
      if (box.isOver) return true;
      if (!box.isOpen && fault.status < 500) return false;
      it.finish({ fault });
      return true;
    },
  };
}

function black<R>(facts: NodeFacts<R>, settings: Settings<R>): NodeExchange {
  const { raw, response } = facts;
  const it = begin(facts, settings, "black");
  const { requestId } = it.aon;
  const refuse = (refusal: AonRefusal): void => answerPlainly(response, refusal, requestId);
  const box = blackBox(it.encoder, {
    ...settings,
    requestId,
    keepAlive: keepProcessing(raw, response),
    fail(error) {
      refuse({ status: error.status ?? 500, code: error.code, message: error.message });
      // The route may still answer, but the client has its answer.
      disguise(response, { isOpen: () => true, isOver: () => true, answer() {}, stepAside() {} });
    },
  });
  it.attach(box, refuse);
  beforeHead(response, () => {
    response.setHeader("X-AON-Report", box.report());
    settings.onHeld(box.held());
  });
  return {
    aon: it.aon,
    open: () => undefined,
    fail(thrown) {
      if (!box.isOver && !response.headersSent) it.finish({ fault: faultOfThrown(thrown, settings.isProduction) });
      return true;
    },
  };
}

function begin<R>({ request, raw, response }: NodeFacts<R>, settings: Settings<R>, sight: Sight): AonExchange {
  const wantsPerson = String(raw.headers["x-crystal-mode"]).trim().toLowerCase() === "interactive";
  const it = beginExchange({ sight, wantsPerson, request }, settings);
  response.once("close", () => it.close(!response.writableFinished));
  return it;
}

function answerPlainly(response: NodeResponse, refusal: AonRefusal, traceId: string): void {
  if (response.headersSent) return;
  beforeHead(response, () => undefined);
  response.writeHead(refusal.status, { "Content-Type": `${JSON_TYPE}; charset=utf-8` });
  response.end(refusalBody(refusal, traceId || `req_${crypto.randomUUID()}`));
}

function refusalBody(
  { status, code = codeOfStatus(status), message = "The request is refused." }: AonRefusal,
  traceId: string,
): string {
  const fault: AonFault = { code, message, status };
  return errorBody(fault, traceId);
}
