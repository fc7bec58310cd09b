import type { WebSocket } from "ws";
import { asFault, Fault } from "@vidro/core";
import type { HandDescription, JsonObject } from "@vidro/core";
import type {
  AttachedExecutor,
  AttachRequest,
  ExecutorAnswer,
  ExecutorListener,
  ExecutorPeer,
} from "@vidro/core/wire/executor-gateway";
import { EXTENSIONS } from "@vidro/core/wire/executor-ws";
import type { ExecutorMessage, Handshake } from "@vidro/core/wire/executor-ws";
import { EXECUTOR_MESSAGE_SCHEMAS, OPTIONAL } from "@vidro/core/wire/executor-ws-schemas";
import type { Log } from "../../observe/log.ts";
import { schemaChecks, lenientReader } from "../wire-check.ts";
import type { AttachedHand, HandRegister } from "../register/hand-register.ts";
import { MessageSocket } from "./message-socket.ts";
import { ExecutorLink } from "./executor-link.ts";
import type { ExecutorLinkOptions } from "./executor-link.ts";
import type { ExecutorMemories } from "./executor-memories.ts";
import { executorHandId } from "./executor-memories.ts";
import { hostName, makeToolbelt } from "./toolbelt.ts";
import type { Toolbelt } from "./toolbelt.ts";
import { standardTools } from "../local.ts";

/** Dependencies of a connected executor. */
export interface ConnectedExecutorDependencies {
  readonly hands: HandRegister;
  readonly memories: ExecutorMemories;
  readonly log: Log;
  readonly bounds: ExecutorLinkOptions["bounds"] & { readonly heartbeatMs: number; readonly handshakeMs: number };
}

/** One connection, as its surface opened it. */
interface ExecutorSocket {
  readonly socket: WebSocket;
  /** Aborted with a Fault when the executor may not stay. */
  readonly ended: AbortSignal;
  readonly listen: (peer: ExecutorPeer) => ExecutorListener;
}

const check = schemaChecks(EXECUTOR_MESSAGE_SCHEMAS);
const withoutMisfits = new Map(
  Object.entries(OPTIONAL).map(([type, fields]) => [type, lenientReader(EXECUTOR_MESSAGE_SCHEMAS[type] ?? {}, fields)]),
);

/** One connection of an executor, from its handshake to its end. */
export class ConnectedExecutor implements ExecutorPeer {
  readonly #deps: ConnectedExecutorDependencies;
  readonly #ended: AbortSignal;
  readonly #messages: MessageSocket;
  readonly #listener: ExecutorListener;
  readonly #lateHandshake: NodeJS.Timeout;
  #link: ExecutorLink | undefined;
  #attached: AttachedHand | undefined;
  /** Whether the handshake came. */
  #isGreeted = false;
  #isJoining = false;
  #isGone = false;

  constructor(deps: ConnectedExecutorDependencies, { socket, ended, listen }: ExecutorSocket) {
    this.#deps = deps;
    this.#ended = ended;
    this.#listener = listen(this);
    const onReceived = {
      onMessage: (type: string, payload: JsonObject) => this.#take(type, payload),
      onMalformed: (fault: Fault) => (this.#isGreeted ? this.#messages.sendFault(fault.report()) : this.hangUp(fault)),
      onSign: () => this.#attached?.seen(),
      onClose: () => this.#leave(),
    };
    this.#messages = new MessageSocket(socket, onReceived, deps.bounds.heartbeatMs);
    // The brain may be the slow one: CONNECTION_LOST lets the executor connect again.
    this.#lateHandshake = setTimeout(
      () => this.hangUp(new Fault("CONNECTION_LOST", "The handshake did not come in time.")),
      deps.bounds.handshakeMs,
    );
    ended.addEventListener("abort", this.#end, { once: true });
    if (ended.aborted) this.#end();
  }

  async attach(request: AttachRequest): Promise<AttachedExecutor> {
    const { handshake, session } = request;
    const belt = makeToolbelt(handshake, await standardTools());
    const link = new ExecutorLink(await this.#wire(request, belt));
    const attached = await this.#deps.hands.attach(describeSession(request, belt), link);
    this.#link = link;
    this.#attached = attached;
    const { epoch } = attached;
    const { accepted, rejected } = belt;
    return { hand: executorHandId(session), epoch, accepted, rejected, open: () => link.open(epoch) };
  }

  send(message: ExecutorMessage): void {
    this.#messages.send(message);
  }

  whenDrained(): Promise<void> {
    return this.#messages.whenDrained();
  }

  hangUp(fault: Fault): void {
    if (fault.code === "INTERNAL_ERROR") this.#deps.log("executor.faulted", { stack: fault.stack ?? fault.message });
    this.#messages.hangUp(fault.report());
  }

  readonly #end = (): void => this.hangUp(asFault(this.#ended.reason));

  #take(type: string, received: JsonObject): void {
    const misfitOf = check(type);
    if (misfitOf === undefined) throw new Fault("BAD_REQUEST", `There is no message ${JSON.stringify(type)}.`);
    const payload = withoutMisfits.get(type)?.(received) ?? received;
    const misfit = misfitOf(payload);
    const link = this.#link;
    if (link === undefined || type === "handshake") return this.#greet(type, payload, misfit);
    // An unreadable judgement still ends the wait for it.
    if (type === "tool_judgement" && typeof payload["tool_id"] === "string") return link.takeJudgement(payload, misfit);
    if (misfit !== undefined) throw new Fault("BAD_REQUEST", `${type}: ${misfit}`);
    if (type === "tool_result") return link.takeResult(payload);
    if (type === "tool_output") return link.takeOutput(payload);
    this.#listener
      .answer(type as ExecutorAnswer, payload)
      .catch((thrown: unknown) => this.#messages.sendFault(asFault(thrown).report()));
  }

  /** The first message must be a handshake, and no later one may be. */
  #greet(type: string, payload: JsonObject, misfit: string | undefined): void {
    if (type !== "handshake" || this.#isGreeted)
      return this.hangUp(new Fault("BAD_REQUEST", "The handshake comes first, and once."));
    this.#isGreeted = true;
    clearTimeout(this.#lateHandshake);
    if (misfit !== undefined) return this.hangUp(new Fault("BAD_REQUEST", `handshake: ${misfit}`));
    // Messages behind the handshake wait until it is answered.
    this.#messages.pause();
    this.#isJoining = true;
    this.#listener
      .join(payload as unknown as Handshake)
      .catch((thrown: unknown) => this.hangUp(asFault(thrown)))
      .finally(() => {
        this.#isJoining = false;
        this.#messages.resume();
        if (this.#isGone) this.#leave();
      });
  }

  async #wire(request: AttachRequest, { tools }: Toolbelt): Promise<ExecutorLinkOptions> {
    const { extensions = [], open_actions = [] } = request.handshake;
    return {
      send: (message) => this.#messages.send(message),
      hangUp: (why) => this.#messages.hangUp(why),
      tools,
      extensions: new Set(EXTENSIONS.filter((extension) => extensions.includes(extension))),
      openActions: new Set(open_actions),
      memory: await this.#deps.memories.of(request.session, request.openAction),
      isOwnRun: request.isOwnRun,
      generation: request.generation,
      onLateEnd: () => this.#attached?.hand.wake(),
      bounds: this.#deps.bounds,
    };
  }

  /** Called when the socket is closed, and again behind a handshake that was still being answered then. */
  #leave(): void {
    this.#isGone = true;
    clearTimeout(this.#lateHandshake);
    this.#ended.removeEventListener("abort", this.#end);
    this.#link?.drop();
    this.#attached?.detach();
    if (!this.#isJoining) this.#listener.leave();
  }
}

function describeSession({ handshake, session, owner }: AttachRequest, { tools }: Toolbelt): HandDescription {
  const { client_version = "", working_directory = "." } = handshake;
  return {
    id: executorHandId(session),
    owner,
    name: hostName(handshake),
    gateway: "executor-ws",
    version: client_version,
    workspace: working_directory,
    tools,
    tags: ["executor"],
  };
}
