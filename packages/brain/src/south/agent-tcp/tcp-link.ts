import { TcpError } from "@vidro/client/tcp";
import type { RequestOptions } from "@vidro/client/tcp";
import { asFault, Fault, REGISTER_LIMITS, isObject } from "@vidro/core";
import { recallOf } from "@vidro/core/run";
import type { Action, FaultReport, JsonObject } from "@vidro/core";
import { tcpFaultCode } from "@vidro/core/wire/agent-tcp";
import type { HandLink } from "../link.ts";
import type { AddWarrant } from "../agent-ws/southbound-link.ts";
import { soundEnd, soundJudgement } from "../hand-answers.ts";

/** One session of the TCP client; each reconnection makes a new one. */
export interface TcpWire {
  isUp: boolean;
  request(act: string, data: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  close(why: FaultReport): void;
}

/** A request to a hand, and its options. */
interface TcpRequest extends RequestOptions {
  readonly act: string;
  readonly data: JsonObject;
}

/** Sends a request over a session; rejects with a Fault: HAND_UNAVAILABLE when disconnected or overloaded. */
export async function askTcpHand(wire: TcpWire, { act, data, ...options }: TcpRequest): Promise<JsonObject> {
  if (!wire.isUp) throw new Fault("HAND_UNAVAILABLE", "The connection to the hand is lost.");
  try {
    return await wire.request(act, data, options);
  } catch (thrown) {
    throw tcpFault(thrown);
  }
}

/** Converts an error of the client to a Fault: HAND_UNAVAILABLE when it is temporary. */
export function tcpFault(thrown: unknown): Fault {
  if (!(thrown instanceof TcpError)) return asFault(thrown);
  const { code, message, retryAfterMs } = thrown;
  const more = { cause: thrown, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return new Fault(code === "RATE_LIMITED" ? "HAND_UNAVAILABLE" : tcpFaultCode(code), message, more);
}

/** A link to a Vidro hand, which judges, cancels and keeps a ledger; it checks warrants when it knows the brain's key. */
export function tcpLink(wire: TcpWire, warranting: AddWarrant = async (order) => order): HandLink {
  return {
    async judge(action) {
      const request = { act: "JUDGE", data: actionData(action), deadlineMs: REGISTER_LIMITS.judgeMs };
      const answer = await askTcpHand(wire, request);
      if (answer["judgement"] !== undefined) return soundJudgement(answer["judgement"]);
      return faultIn(answer["fault"]);
    },
    async perform(given, hear, signal) {
      const asked = signal.aborted ? recallOf(given) : given;
      const { action, run, epoch, ttlMs, approved, ledger, warrant, traceparent } = await warranting(asked);
      const order = {
        ...actionData(action),
        run,
        epoch,
        ttlMs,
        live: true,
        ...(approved === undefined ? {} : { approved }),
        ...(ledger === undefined ? {} : { ledger }),
        ...(warrant === undefined ? {} : { warrant }),
        ...(traceparent === undefined ? {} : { traceparent }),
      };
      const cancel = (): void =>
        void askTcpHand(wire, { act: "CANCEL", data: { actionId: action.id } }).catch(() => undefined);
      signal.addEventListener("abort", cancel, { once: true });
      try {
        const ended = askTcpHand(wire, {
          act: "RUN_TOOL",
          data: order,
          deadlineMs: REGISTER_LIMITS.endMs,
          hear: ({ stream, chunk }) => {
            if ((stream === "stdout" || stream === "stderr") && typeof chunk === "string") hear(stream, chunk);
          },
        });
        if (signal.aborted) cancel();
        return soundEnd((await ended)["ended"]);
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    acknowledge: (action) => void askTcpHand(wire, { act: "ACK", data: { actionId: action } }).catch(() => undefined),
    close: (why) => wire.close(why),
  };
}

function actionData({ id, tool, input, callId }: Action): JsonObject {
  return { actionId: id, tool, input, callId };
}

function faultIn(value: unknown): FaultReport {
  if (isObject(value) && typeof value["code"] === "string" && typeof value["message"] === "string")
    return new Fault(tcpFaultCode(value["code"]), value["message"]).report();
  return new Fault("TOOL_FAILED", "The hand sent no judgement.").report();
}
