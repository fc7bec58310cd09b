import type { RouteAnswer } from "./answer.ts";
import type { AonBox } from "./box.ts";
import { encoder } from "./encode.ts";
import type { Encoder } from "./encode.ts";
import type { HealingEvent, IntentAnalysisEvent, ProgressEvent } from "./event.ts";
import type { AonFault } from "./fault-of.ts";
import type { Operation } from "./heal/heuristic.ts";
import type { HealingQuestion, HealingQuestions } from "./interactive.ts";
import type { Sight } from "./negotiate.ts";
import { sanitiser } from "./sanitise.ts";
import type { AonRefusal, Settings } from "./settings.ts";

/** The AON interface of a route; the same for a glass box and a black box. */
export interface Aon {
  readonly sight: Sight;
  /** Also the `trace_id` of an error. */
  readonly requestId: string;
  /** Whether a person can be asked. */
  readonly isInteractive: boolean;
  /** Aborted when the client has disconnected or the time limit is reached. */
  readonly signal: AbortSignal;
  /** Reports progress; awaiting it applies backpressure of a slow reader. */
  status(message: string, estimatedDelayMs?: number): Promise<void>;
  /** Reports that the input was interpreted and the course changed. */
  intent(analysis: Omit<IntentAnalysisEvent, "type">): Promise<void>;
  /** Reports a healing that the route does itself. */
  healing(healing: Omit<HealingEvent, "type">): Promise<void>;
  /** Emits any event that is not terminal. */
  readonly emit: (event: ProgressEvent) => Promise<void>;
  /** Runs an operation and heals its failures, with an event for each step. */
  heal<T>(operation: Operation<T>): Promise<T>;
  /** Adds values that must not appear in events. */
  readonly hide: (...secrets: readonly string[]) => void;
  /** Ends the request with an HTTP error when nothing was sent yet, else with an `error` event. */
  refuse(refusal: AonRefusal): void;
}

/** One request from its acceptance to its end. */
export interface AonExchange {
  readonly aon: Aon;
  readonly encoder: Encoder;
  /** Sets the box for events; must be called first. */
  attach(box: AonBox, refuse: (refusal: AonRefusal) => void): void;
  /** Ends with the route's answer, a result or a fault. */
  readonly finish: (answered: RouteAnswer) => void;
  /** Stops timers because the answer was sent otherwise; `isGone` also aborts the work. */
  close(isGone: boolean): void;
}

/** The input of an exchange. */
export interface ExchangeFacts<R> {
  readonly sight: Sight;
  readonly wantsPerson: boolean;
  readonly request: R;
}

/** Begins an exchange and its time limit. */
export function beginExchange<R>(facts: ExchangeFacts<R>, settings: Settings<R>): AonExchange {
  const { sight, wantsPerson, request } = facts;
  const requestId = `req_${crypto.randomUUID()}`;
  const { hide, clean } = sanitiser(settings.secrets);
  const control = new AbortController();
  const limitMs = settings.workMs[sight];
  let box: AonBox | undefined;
  let turnDown: ((refusal: AonRefusal) => void) | undefined;
  const clock = setTimeout(() => {
    const message = `No answer within ${limitMs} ms.`;
    finish({ fault: { code: "TIMEOUT", message, status: 504 } });
    control.abort(new Error(message));
  }, limitMs);

  function finish(answered: RouteAnswer): void {
    clearTimeout(clock);
    if ("data" in answered) box?.finish({ type: "result", data: answered.data });
    else box?.finish({ type: "error", ...answered.fault, trace_id: requestId });
  }

  const emit = async (event: ProgressEvent): Promise<void> => box?.emit(event);
  const { questions } = settings;
  const isInteractive = wantsPerson && sight === "glass" && questions !== undefined;
  const ask = isInteractive ? questionAsker(questions, emit, control.signal) : undefined;
  return {
    aon: {
      ...emitters(emit),
      sight,
      requestId,
      isInteractive,
      signal: control.signal,
      heal: (operation) => settings.healer.run(operation, { emit, hide, signal: control.signal, ask }),
      hide,
      refuse: (refusal) => turnDown?.(refusal),
    },
    encoder: encoder({ requestId, sanitiser: { hide, clean }, showsIntent: () => isIntentShown(settings, request) }),
    attach(given, refuse) {
      box = given;
      turnDown = refuse;
    },
    finish,
    close(isGone) {
      clearTimeout(clock);
      box?.leave();
      if (isGone) control.abort(new Error("The client is gone."));
    },
  };
}

function emitters(emit: Aon["emit"]): Pick<Aon, "emit" | "status" | "intent" | "healing"> {
  return {
    emit,
    status: (message, ms) => emit({ type: "status", message, ...(ms === undefined ? {} : { estimated_delay_ms: ms }) }),
    intent: (analysis) => emit({ type: "intent_analysis", ...analysis }),
    healing: (healing) => emit({ type: "healing", ...healing }),
  };
}

function questionAsker({ ask, answerMs }: HealingQuestions, emit: Aon["emit"], signal: AbortSignal) {
  return (question: HealingQuestion): Promise<string> => {
    const show = (healing_id: string): void =>
      void emit({ type: "interactive_healing_request", healing_id, ...question, timeout_ms: answerMs });
    return ask(question, show, signal);
  };
}

/** Whether an analysis is shown in full; false when the predicate throws. */
function isIntentShown<R>({ isProduction, isAdmin }: Settings<R>, request: R): boolean {
  try {
    return !isProduction || isAdmin(request);
  } catch {
    return false;
  }
}

/** The body of an HTTP error: the fields of an `error` event. */
export function errorBody(fault: Omit<AonFault, "detail">, traceId: string): string {
  return JSON.stringify({ code: fault.code, message: fault.message, trace_id: traceId });
}
