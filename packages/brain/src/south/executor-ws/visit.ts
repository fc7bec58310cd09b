import type { WebSocket } from "ws";
import { asFault, EXECUTOR_LIMITS, Fault, HAND_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import type { HandDescription, JsonObject, RunHead, ToolSpec, Turn } from "@vidro/core";
import { EXTENSIONS, textOf } from "@vidro/core/wire/executor-ws";
import type { Handshake, HandshakeAck } from "@vidro/core/wire/executor-ws";
import { FROM_EXECUTOR, OPTIONAL } from "@vidro/core/wire/executor-ws-schemas";
import type { Log } from "../../observe/log.ts";
import { BOOTSTRAP } from "@vidro/core/run";
import { checks, lenient } from "../wire-check.ts";
import type { Attached } from "../register/hands.ts";
import { Channel } from "./channel.ts";
import { ExecutorLink } from "./executor-link.ts";
import type { ExecutorWire } from "./executor-link.ts";
import { Follower } from "./follower.ts";
import { handOf } from "./sessions.ts";
import type { Place, Sessions, SessionsWorld } from "./sessions.ts";
import { hostName, toolbelt } from "./toolbelt.ts";
import type { Toolbelt } from "./toolbelt.ts";
import { BUNNY } from "../../catalog/agent.ts";

/** What a visit needs of its brain. */
export interface VisitWorld extends Pick<SessionsWorld, "runs" | "hands"> {
  readonly sessions: Sessions;
  readonly standardTools: () => Promise<readonly ToolSpec[]>;
  readonly log: Log;
  readonly version: string;
  readonly bounds: ExecutorWire["bounds"] & { readonly heartbeatMs: number; readonly handshakeMs: number };
}

/** Who comes, and how. */
export interface Visitor {
  readonly socket: WebSocket;
  readonly caller: { readonly owner: string; readonly tokenId: string };
  readonly params: { readonly [name: string]: string };
  /** Aborted with a Fault when the visitor is not welcome any more. */
  readonly ended: AbortSignal;
}

/** What is there once the handshake is answered. */
interface Joined {
  readonly link: ExecutorLink;
  readonly attached: Attached;
  readonly session: string;
  run?: RunHead;
  follower?: Follower;
}

const check = checks(FROM_EXECUTOR);
const heeded = new Map(
  Object.entries(OPTIONAL).map(([type, fields]) => [type, lenient(FROM_EXECUTOR[type] ?? {}, fields)]),
);

/** One connection of an executor, from its handshake to its end. */
export class Visit {
  readonly #world: VisitWorld;
  readonly #visitor: Visitor;
  readonly #channel: Channel;
  readonly #gone = new AbortController();
  readonly #lateHandshake: NodeJS.Timeout;
  #greeted = false;
  #joined: Joined | undefined;

  constructor(world: VisitWorld, visitor: Visitor) {
    this.#world = world;
    this.#visitor = visitor;
    const listener = {
      take: (type: string, payload: JsonObject) => this.#take(type, payload),
      misheard: (fault: Fault) => (this.#greeted ? this.#channel.complain(fault.report()) : this.#refuse(fault)),
      seen: () => this.#joined?.attached.seen(),
      gone: () => this.#leave(),
    };
    this.#channel = new Channel(visitor.socket, listener, world.bounds.heartbeatMs);
    // It may be this brain that is slow, so that the executor is to come again.
    this.#lateHandshake = setTimeout(
      () => this.#channel.hangUp(new Fault("CONNECTION_LOST", "The handshake did not come in time.").report()),
      world.bounds.handshakeMs,
    );
    visitor.ended.addEventListener("abort", this.#throwOut, { once: true });
    if (visitor.ended.aborted) this.#throwOut();
  }

  readonly #throwOut = (): void => this.#channel.hangUp(asFault(this.#visitor.ended.reason).report());

  #take(type: string, said: JsonObject): void {
    const fit = check(type);
    if (fit === undefined) throw new Fault("BAD_REQUEST", `There is no message ${JSON.stringify(type)}.`);
    const payload = heeded.get(type)?.(said) ?? said;
    const misfit = fit(payload);
    const link = this.#joined?.link;
    if (link === undefined || type === "handshake") return this.#greet(type, payload, misfit);
    // Whoever waits for a judgement that cannot be read has it all the same.
    if (type === "tool_judgement" && typeof payload["tool_id"] === "string") return link.judged(payload, misfit);
    if (misfit !== undefined) throw new Fault("BAD_REQUEST", `${type}: ${misfit}`);
    if (type === "tool_result") return link.result(payload);
    if (type === "tool_output") return link.output(payload);
    this.#answer(type, payload).catch((thrown: unknown) => this.#channel.complain(asFault(thrown).report()));
  }

  /** Nothing but a handshake opens a connection, and only once. */
  #greet(type: string, payload: JsonObject, misfit: string | undefined): void {
    if (type !== "handshake" || this.#greeted)
      return this.#refuse(new Fault("BAD_REQUEST", "The handshake comes first, and once."));
    this.#greeted = true;
    clearTimeout(this.#lateHandshake);
    if (misfit !== undefined) return this.#refuse(new Fault("BAD_REQUEST", `handshake: ${misfit}`));
    // What comes behind the handshake waits until it is answered.
    this.#channel.pause();
    this.#join(payload as unknown as Handshake)
      .catch((thrown: unknown) => this.#refuse(asFault(thrown)))
      .finally(() => {
        this.#channel.resume();
        // Whoever left meanwhile was not known to be here.
        if (this.#gone.signal.aborted) this.#leave();
      });
  }

  async #join(handshake: Handshake): Promise<void> {
    const { sessions, hands, standardTools } = this.#world;
    const { owner } = this.#visitor.caller;
    const belt = toolbelt(handshake, await standardTools());
    const place = await sessions.place(handshake, owner, this.#visitor.params["task_id"]);
    const { session } = place;
    const link = new ExecutorLink(await this.#wire(handshake, belt, place));
    const attached = await hands.attach(cardOf(handshake, belt, { owner, session }), link);
    const joined: Joined = { link, attached, session };
    this.#joined = joined;
    await sessions.keep(session, owner, handshake);
    const run = place.run ?? (await this.#start(handshake, session));
    const task = place.task ?? run?.id ?? null;
    const payload = { ...this.#ack(belt, attached.epoch), session_id: session, task_id: task };
    this.#channel.send({
      type: "handshake_ack",
      payload: run === undefined ? payload : { ...payload, run_id: run.id },
    });
    if (run !== undefined) {
      await this.#world.runs.resume(run.id);
      this.#tell(joined, run, { task: task ?? run.id, after: handshake.resume?.last_seq ?? 0 });
    }
    link.open(attached.epoch);
  }

  async #wire({ extensions = [], open_actions = [] }: Handshake, belt: Toolbelt, place: Place): Promise<ExecutorWire> {
    return {
      send: (message) => this.#channel.send(message),
      hangUp: (why) => this.#channel.hangUp(why),
      tools: belt.tools,
      extensions: new Set(EXTENSIONS.filter((extension) => extensions.includes(extension))),
      open: new Set(open_actions),
      memory: await this.#world.sessions.memory(place),
      isOwn: (run) => run === this.#joined?.run?.id,
      generation: async (run, action) => {
        const { run: own, follower } = this.#joined ?? {};
        return own?.id === run && follower !== undefined ? follower.generation(action) : run;
      },
      late: () => this.#joined?.attached.hand.wake(),
      bounds: this.#world.bounds,
    };
  }

  /** Starts the task that the executor brings; the same session never starts a second one. */
  async #start({ initial_prompt: task, project_spec: spec }: Handshake, session: string): Promise<RunHead | undefined> {
    if (task === undefined) return undefined;
    const { run } = await this.#world.runs.start({
      task,
      owner: this.#visitor.caller.owner,
      token: this.#visitor.caller.tokenId,
      agent: { ...BUNNY, model: BOOTSTRAP },
      hand: handOf(session),
      workspace: ".",
      thread: session,
      key: handOf(session),
      history: spec === undefined ? [] : briefing(spec),
      budget: { answerMs: EXECUTOR_LIMITS.messageMs },
    });
    return run;
  }

  #ack({ accepted, rejected }: Toolbelt, epoch: number): Omit<HandshakeAck, "session_id" | "task_id"> {
    return {
      tools_accepted: accepted,
      tools_rejected: rejected,
      server_version: this.#world.version,
      policy: { timeouts: { exec: HAND_LIMITS.commandCapMs }, max_payload: REGISTER_LIMITS.messageBytes },
      session_epoch: epoch,
    };
  }

  #tell(joined: Joined, run: RunHead, { task, after }: { readonly task: string; readonly after: number }): void {
    const { runs } = this.#world;
    const follower = new Follower({
      runs,
      channel: this.#channel,
      run: run.id,
      task,
      after,
      signal: this.#gone.signal,
    });
    joined.run = run;
    joined.follower = follower;
    follower.follow().catch((thrown: unknown) => this.#refuse(asFault(thrown)));
  }

  /** Answers what the run asks, as long as it is asked; whoever answers first, on whatever wire, has answered. */
  async #answer(type: string, payload: JsonObject): Promise<void> {
    const { run, follower } = this.#joined ?? {};
    const open = follower?.open;
    const isMeant =
      type === "tool_approval"
        ? open?.approves !== undefined && open.approves === payload["tool_call_id"]
        : open?.id === payload["input_request_id"];
    if (run === undefined || open === undefined || !isMeant)
      throw new Fault("CONFLICT", "Nothing waits for this answer; somebody may have given it already.");
    const text = type === "tool_approval" ? approvalText(payload, open.options) : textOf(payload, "response");
    // The person at an executor decides about the executor's own host: that takes no right over any other.
    await this.#world.runs.answer(run.id, { text, by: this.#visitor.caller.owner, question: open.id });
  }

  #refuse(fault: Fault): void {
    if (fault.code === "INTERNAL_ERROR") this.#world.log("executor.faulted", { stack: fault.stack ?? fault.message });
    this.#channel.hangUp(fault.report());
  }

  #leave(): void {
    clearTimeout(this.#lateHandshake);
    this.#visitor.ended.removeEventListener("abort", this.#throwOut);
    this.#gone.abort();
    const joined = this.#joined;
    if (joined === undefined) return;
    joined.link.drop();
    joined.attached.detach();
    // A store that is closed or cannot be written keeps a hand too many, which the next sweep finds.
    this.#world.sessions.left(joined.session).catch(() => undefined);
  }
}

function cardOf(handshake: Handshake, { tools }: Toolbelt, who: { owner: string; session: string }): HandDescription {
  const { client_version = "", working_directory = "." } = handshake;
  return {
    id: handOf(who.session),
    owner: who.owner,
    name: hostName(handshake),
    gateway: "executor-ws",
    version: client_version,
    workspace: working_directory,
    tools,
    tags: ["executor"],
  };
}

/** What an executor brings along about its project is told like something that a person said: it orders nothing. */
function briefing({ content, file_paths: files = [] }: NonNullable<Handshake["project_spec"]>): readonly Turn[] {
  const about = files.length === 0 ? "" : ` (${files.join(", ")})`;
  return [{ role: "user", text: `[About the project${about}]\n${content}` }];
}

/** A yes is a yes to exactly what was shown; a yes with changes is a no that says what to do instead. */
function approvalText({ approved, modifications }: JsonObject, options: readonly string[]): string {
  const changes = modifications === undefined || modifications === null ? "" : JSON.stringify(modifications);
  if (approved === true) return changes === "" ? (options[0] ?? "yes") : `no: not like this, but so: ${changes}`;
  return changes === "" ? "no" : `no: ${changes}`;
}
