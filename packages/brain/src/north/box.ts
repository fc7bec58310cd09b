import type { IncomingMessage, ServerResponse } from "node:http";
import { blackBox, BOX, encoder, glassBox, NDJSON_TYPE, negotiate, nodeSink } from "@vidro/aon";
import type { Box as EventBox, BlackBox, Sanitiser, Severity } from "@vidro/aon";
import { Fault, FAULTS, HTTP } from "@vidro/core";
import type { Caller, Reply, Route, Teller } from "./route.ts";
import { send } from "./send.ts";

/** The way out of a plain route: glass for who wants to watch, black for who wants the answer. */
export interface Box {
  readonly tell: Teller;
  /** The work begins; a glass box opens when something is told, or after a moment of silence. */
  open(): void;
  /** Sends the answer. */
  result(reply: Extract<Reply, { json: unknown }>): void;
  /** Tells the fault where the answer has begun; false when it can still go out with a status of its own. */
  error(fault: Fault): boolean;
  /** The route writes its answer itself. */
  leave(): void;
}

/** What a box has to know of its request. */
export interface BoxFacts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly requestId: string;
  readonly traceId: string;
  readonly caller: Caller;
  readonly production: boolean;
  readonly sanitiser: Sanitiser;
}

/** The box that `Accept` asks for; NOT_ACCEPTABLE when the client takes nothing that the route can give. */
export function openBox(facts: BoxFacts): Box {
  const { response, requestId, sanitiser, caller, production } = facts;
  const lines = encoder({ requestId, sanitiser, showsIntent: () => !production || caller.admin });
  if (wantsGlass(facts)) return glass(facts, glassBox(nodeSink(response), lines, BOX));
  // A black box keeps quiet until the end: widely used clients take 102 Processing for the answer itself.
  const quiet = { keepAlive: () => undefined, fail: () => undefined };
  return black(response, blackBox(lines, { requestId, ...BOX, ...quiet }));
}

/** A route that writes more than JSON reads `Accept` by itself. */
function wantsGlass({ request, route }: BoxFacts): boolean {
  if (route.produces?.includes(NDJSON_TYPE) === true) return false;
  const sight = negotiate(request.headers.accept);
  if (sight === undefined && route.produces === undefined)
    throw new Fault("NOT_ACCEPTABLE", `Accept application/json for the answer, or ${NDJSON_TYPE} to watch.`);
  return sight === "glass" && request.method !== "HEAD";
}

function glass({ response, route, traceId }: BoxFacts, box: EventBox): Box {
  let silence: NodeJS.Timeout | undefined;
  response.once("close", () => clearTimeout(silence));
  return {
    tell: teller(box),
    open() {
      // What may turn out to be a stream of another kind must not have begun as this one.
      if (route.produces === undefined) silence = setTimeout(() => box.open(), HTTP.glassMs);
    },
    result(reply) {
      clearTimeout(silence);
      const { json, status = 200 } = reply;
      if (!box.isOpen) putHeaders(response, reply);
      if (!box.isOpen && status >= 400) {
        box.leave();
        send(response, status, json);
      } else {
        box.finish({ type: "result", data: json });
      }
    },
    error(fault) {
      clearTimeout(silence);
      if (!box.isOpen) {
        box.leave();
        return false;
      }
      const { code, message } = fault;
      box.finish({ type: "error", code, message, trace_id: traceId, status: FAULTS[code].http });
      return true;
    },
    leave() {
      clearTimeout(silence);
      box.leave();
      if (box.isOpen) throw new Error("A route that writes its own stream must name NDJSON in `produces`.");
    },
  };
}

function black(response: ServerResponse, box: BlackBox): Box {
  response.once("close", () => box.leave());
  return {
    tell: teller(box),
    open: () => undefined,
    result(reply) {
      box.leave();
      putHeaders(response, reply);
      if (box.held().count > 0) response.setHeader("x-aon-report", box.report());
      send(response, reply.status ?? 200, reply.json);
    },
    error() {
      box.leave();
      return false;
    },
    leave: () => box.leave(),
  };
}

function putHeaders(response: ServerResponse, { headers = {} }: Extract<Reply, { json: unknown }>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

function teller(box: EventBox): Teller {
  const emit = (event: Parameters<EventBox["emit"]>[0]): void => void box.emit(event).catch(() => undefined);
  return {
    status(message, estimatedDelayMs) {
      const delay = estimatedDelayMs === undefined ? {} : { estimated_delay_ms: estimatedDelayMs };
      emit({ type: "status", message, ...delay });
    },
    healing({ severity, action, description, metadata = {} }) {
      emit({ type: "healing", severity: severity as Severity, action, description, metadata });
    },
    intent(intent) {
      emit({ type: "intent_analysis", ...intent });
    },
  };
}
