import type { Fault } from "../fault.ts";
import type { JsonObject } from "../json.ts";
import type { ExecutorMessage, Handshake } from "./executor-ws.ts";

/*
 * The port between the surface that runs the task of an executor (004) and the gateway that makes the executor a hand.
 * Both share one WebSocket: the gateway owns it, and passes on to the surface what is about the task.
 */

/** An executor that wants to be a hand, and what its gateway has to know of its session. */
export interface AttachRequest {
  readonly handshake: Handshake;
  readonly session: string;
  readonly owner: string;
  /** The action of the session's run without a recorded end; asked for when the gateway does not know the session. */
  readonly openAction: () => Promise<string | undefined>;
  /** Whether a run is the executor's own task; other runs may use the executor as a hand, too. */
  readonly isOwnRun: (run: string) => boolean;
  /** The id of the step that an action belongs to; resolves as soon as the journal has the action. */
  readonly generation: (run: string, action: string) => Promise<string>;
}

/** An executor as a hand of this brain. */
export interface AttachedExecutor {
  /** The id of the hand. */
  readonly hand: string;
  /** Grows with each connection of the hand, and goes out with every order. */
  readonly epoch: number;
  /** Names of the tools that runs may use, as the executor gave them. */
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
  /** Lets orders out: called when the handshake has been answered. */
  readonly open: () => void;
}

/** The brain's end of one connection of an executor. */
export interface ExecutorPeer {
  /** Makes the executor a hand; durable when it resolves. */
  attach(request: AttachRequest): Promise<AttachedExecutor>;
  /** Sends a message; drops it when the connection is gone. */
  send(message: ExecutorMessage): void;
  /** Resolves when the executor has read enough of what was sent to get more; one that reads nothing is cut off. */
  whenDrained(): Promise<void>;
  /** Sends the fault and closes the connection; a fault of the brain itself is logged. */
  hangUp(fault: Fault): void;
}

/** Types of the messages of a person at an executor: answers to a question of its run, or words to the run at work. */
export type ExecutorAnswer = "tool_approval" | "user_input" | "user_message";

/** Gets what comes over one connection of an executor and is about its task. */
export interface ExecutorListener {
  /** The handshake came; later messages wait until this resolves. A rejection closes the connection with its fault. */
  join(handshake: Handshake): Promise<void>;
  /** An answer came; the executor is sent the fault when this rejects. */
  answer(type: ExecutorAnswer, payload: JsonObject): Promise<void>;
  /** The connection is gone; called once, and never while `join` is pending. */
  leave(): void;
}

/** Makes executors hands, one connection at a time. */
export interface ExecutorGateway<Socket> {
  /** Talks to the executor at the other end of a socket; closes it with the reason of `ended` when that is aborted. */
  accept(connection: {
    readonly socket: Socket;
    readonly ended: AbortSignal;
    readonly listen: (peer: ExecutorPeer) => ExecutorListener;
  }): void;
  /** The sessions whose executors are known and were last seen before a time. */
  sessionsSeenBefore(time: number): readonly string[];
  /** Forgets the executor of a session, unless it is connected. */
  forget(session: string): Promise<void>;
}
