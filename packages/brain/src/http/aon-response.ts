import type { IncomingMessage, ServerResponse } from "node:http";
import {
  blackBox,
  BOX_LIMITS,
  encoder,
  glassBox,
  NDJSON_TYPE,
  negotiate,
  nodeSink,
  processing,
} from "@vidro/aon/boxes";
import type { AonBox as EventBox, BlackBox, Sanitiser, Severity } from "@vidro/aon/boxes";
import { Fault, FAULTS, HTTP_LIMITS } from "@vidro/core";
import { encodeNdjson } from "@vidro/core/codec";
import type { JsonObject } from "@vidro/core";
import type { Caller } from "../auth/caller.ts";
import type { Reply, Route, ProgressReporter } from "./route.ts";
import { send } from "./send.ts";

/** The response of a route as AON: a glass box streams progress events, a black box sends only the answer. */
export interface AonResponse {
  readonly tell: ProgressReporter;
  /** Called when the work begins; a glass box opens at its first event, or after a moment of silence. */
  open(): void;
  /** Sends the answer. */
  result(reply: Extract<Reply, { json: unknown }>): void;
  /** Sends the fault as an event where the answer has begun; false when it can still be sent with its own status. */
  error(fault: Fault): boolean;
  /** Called when the route writes its answer itself; returns the events so far as lines of NDJSON. */
  leave(): string;
}

/** The request of an AON response. */
interface AonResponseOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly requestId: string;
  readonly traceId: string;
  readonly caller: Caller;
  readonly production: boolean;
  readonly sanitiser: Sanitiser;
  readonly processingMs: number;
}

/** The response that `Accept` asks for; NOT_ACCEPTABLE when the client takes no type that the route produces. */
export function openAonResponse(facts: AonResponseOptions): AonResponse {
  const { response, requestId, sanitiser, caller, production } = facts;
  const lines = encoder({ requestId, sanitiser, showsIntent: () => !production || caller.admin });
  if (wantsGlass(facts)) return glass(facts, glassBox(nodeSink(response), lines, BOX_LIMITS));
  const keepAlive = processing(facts.request, response);
  const heartbeatMs = facts.processingMs;
  return black(response, blackBox(lines, { requestId, ...BOX_LIMITS, heartbeatMs, keepAlive, fail: () => undefined }));
}

/** Whether to open a glass box here; a route that writes NDJSON itself reads `Accept` itself. */
function wantsGlass({ request, route: { produces = [] } }: AonResponseOptions): boolean {
  const { accept = "" } = request.headers;
  const sight = negotiate(accept);
  if (sight === undefined && !produces.some((type) => takes(accept, type))) {
    const others = produces.filter((type) => type !== NDJSON_TYPE).map((type) => ` or ${type}`);
    const known = `application/json${others.join("")} for the answer, or ${NDJSON_TYPE} to watch`;
    throw new Fault("NOT_ACCEPTABLE", `Accept ${known}.`);
  }
  return sight === "glass" && !produces.includes(NDJSON_TYPE) && request.method !== "HEAD";
}

/** Whether an `Accept` header names a type with a quality above 0; other parameters are ignored. */
function takes(accept: string, type: string): boolean {
  return accept.split(",").some((range) => {
    const [name = "", ...parameters] = range.toLowerCase().replaceAll(" ", "").split(";");
    return (
      (name === type || name === `${type.split("/")[0]}/*`) && !parameters.some((each) => /^q=0(?:\.0*)?$/.test(each))
    );
  });
}

function glass({ response, route, traceId }: AonResponseOptions, box: EventBox): AonResponse {
  let silence: NodeJS.Timeout | undefined;
  response.once("close", () => clearTimeout(silence));
  return {
    tell: teller(box),
    open() {
      // A route that may stream another media type must not have begun a response in this one.
      if (route.produces === undefined) silence = setTimeout(() => box.open(), HTTP_LIMITS.glassMs);
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
      return "";
    },
  };
}

function black(response: ServerResponse, box: BlackBox): AonResponse {
  response.once("close", () => box.leave());
  const leave = (): void => {
    box.leave();
    if (box.held().count > 0) response.setHeader("x-aon-report", box.report());
  };
  return {
    tell: teller(box),
    open: () => undefined,
    result(reply) {
      leave();
      putHeaders(response, reply);
      send(response, reply.status ?? 200, reply.json);
    },
    error() {
      box.leave();
      return false;
    },
    leave() {
      leave();
      return box
        .held()
        .events.map((event) => encodeNdjson(event as unknown as JsonObject))
        .join("");
    },
  };
}

function putHeaders(response: ServerResponse, { headers = {} }: Extract<Reply, { json: unknown }>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

function teller(box: EventBox): ProgressReporter {
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
