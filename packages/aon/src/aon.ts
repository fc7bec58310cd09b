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

/** What a route sees of AON: it is the same whichever box the client asked for. */
export interface Aon {
  readonly sight: Sight;
  /** Also the `trace_id` of an error. */
  readonly requestId: string;
  /** Whether a person can be asked. */
  readonly isInteractive: boolean;
  /** Aborted when the client is gone or the time is over. */
  readonly signal: AbortSignal;
  /** Tells of progress; awaiting it keeps the pace of a slow reader. */
  status(message: string, estimatedDelayMs?: number): Promise<void>;
  /** Tells that the input was understood and the ordinary way changed. */
  intent(analysis: Omit<IntentAnalysisEvent, "type">): Promise<void>;
  /** Tells of a healing that the route does itself. */
  healing(healing: Omit<HealingEvent, "type">): Promise<void>;
  /** Any event that is not terminal. */
  readonly emit: (event: ProgressEvent) => Promise<void>;
  /** Runs an operation and heals its failures, telling of everything. */
  heal<T>(operation: Operation<T>): Promise<T>;
  /** From now on these values are never shown in an event. */
  readonly hide: (...secrets: readonly string[]) => void;
  /** Ends the request with a plain HTTP error when nothing was sent yet, else with an `error` event. */
  refuse(refusal: AonRefusal): void;
}

/** One request from its acceptance to its end. */
export interface AonExchange {
  readonly aon: Aon;
  readonly encoder: Encoder;
  /** Says where events go; before anything else. */
  attach(box: AonBox, refuse: (refusal: AonRefusal) => void): void;
  /** Ends with a result or a failure, whichever the route's answer means. */
  readonly finish: (answered: RouteAnswer) => void;
  /** Stops everything: the answer went another way, or nobody waits for it. */
  close(isGone: boolean): void;
}

/** What an exchange is about. */
export interface ExchangeFacts<R> {
  readonly sight: Sight;
  readonly wantsPerson: boolean;
  readonly request: R;
}

/** Begins an exchange; its time runs from now. */
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

/** Whether an analysis is shown in full; a predicate that throws says no. */
function isIntentShown<R>({ isProduction, isAdmin }: Settings<R>, request: R): boolean {
  try {
    return !isProduction || isAdmin(request);
  } catch {
    return false;
  }
}

/** The body of a plain HTTP error: the fields of an `error` event. */
export function errorBody(fault: Omit<AonFault, "detail">, traceId: string): string {
  return JSON.stringify({ code: fault.code, message: fault.message, trace_id: traceId });
}
