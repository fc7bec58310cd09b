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

/** The way out of a plain route: glass for who wants to watch, black for who wants the answer. */
export interface AonResponse {
  readonly tell: ProgressReporter;
  /** The work begins; a glass box opens when something is told, or after a moment of silence. */
  open(): void;
  /** Sends the answer. */
  result(reply: Extract<Reply, { json: unknown }>): void;
  /** Tells the fault where the answer has begun; false when it can still go out with a status of its own. */
  error(fault: Fault): boolean;
  /** The route writes its answer itself; gives what was told so far, as lines of NDJSON. */
  leave(): string;
}

/** What a box has to know of its request. */
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

/** The box that `Accept` asks for; NOT_ACCEPTABLE when the client takes nothing that the route can give. */
export function openAonResponse(facts: AonResponseOptions): AonResponse {
  const { response, requestId, sanitiser, caller, production } = facts;
  const lines = encoder({ requestId, sanitiser, showsIntent: () => !production || caller.admin });
  if (wantsGlass(facts)) return glass(facts, glassBox(nodeSink(response), lines, BOX_LIMITS));
  const keepAlive = processing(facts.request, response);
  const heartbeatMs = facts.processingMs;
  return black(response, blackBox(lines, { requestId, ...BOX_LIMITS, heartbeatMs, keepAlive, fail: () => undefined }));
}

/** Whether the glass box is ours to open: a route that writes NDJSON itself reads `Accept` by itself. */
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

/** Whether an `Accept` names a type without refusing it; what the type is said to be besides is left to its reader. */
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
      // What may turn out to be a stream of another kind must not have begun as this one.
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
