import { randomUUIDv7 } from "node:crypto";
import { EXECUTOR_LIMITS, Fault, HAND_LIMITS, REGISTER_LIMITS, asFault, isObject } from "@vidro/core";
import { BOOTSTRAP } from "@vidro/core/run";
import { CHANGED_YES } from "@vidro/core/text";
import type { JsonObject, RunHead, Turn } from "@vidro/core";
import type {
  AttachedExecutor,
  ExecutorAnswer,
  ExecutorListener,
  ExecutorPeer,
} from "@vidro/core/wire/executor-gateway";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import type { Handshake, HandshakeAck } from "@vidro/core/wire/executor-ws";
import { BUNNY } from "../../catalog/agent.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Runs } from "../../run/runs.ts";
import type { AnswerRights } from "../approval-rights.ts";
import { ExecutorFollower } from "./follower.ts";
import type { ExecutorSession, ExecutorSessions } from "./sessions.ts";

/** Dependencies of the connection of an executor. */
interface ExecutorConnectionDependencies {
  readonly runs: Runs;
  readonly sessions: ExecutorSessions;
  readonly version: string;
}

/** The caller that opened a connection, and its task. */
interface ExecutorCaller extends Pick<Caller, "owner" | "tokenId"> {
  /** The executor's own name of its task, when the path of the connection has it. */
  readonly task: string | undefined;
  /** What its token may answer about effects on any host. */
  readonly rights: AnswerRights;
}

/** The run of the executor, and what sends it. */
interface FollowedRun {
  readonly run: RunHead;
  /** Whether the run works on this executor and on no other hand. */
  readonly isHere: boolean;
  readonly follower: ExecutorFollower;
}

/** The task of one connected executor: starts or resumes its run, shows it and takes answers to its questions. */
export class ExecutorConnection implements ExecutorListener {
  readonly #deps: ExecutorConnectionDependencies;
  readonly #caller: ExecutorCaller;
  readonly #peer: ExecutorPeer;
  readonly #gone = new AbortController();
  #session: string | undefined;
  #followed: FollowedRun | undefined;

  constructor(deps: ExecutorConnectionDependencies, caller: ExecutorCaller, peer: ExecutorPeer) {
    this.#deps = deps;
    this.#caller = caller;
    this.#peer = peer;
  }

  async join(handshake: Handshake): Promise<void> {
    const { sessions, runs } = this.#deps;
    const { owner } = this.#caller;
    const found = await sessions.find(handshake, owner, this.#caller.task);
    const { session } = found;
    const attached = await this.#attach(handshake, found);
    this.#session = session;
    await sessions.keepHandshake(session, owner, handshake);
    const run = found.run ?? (await this.#start(handshake, session, attached.hand));
    const task = found.task ?? run?.id ?? null;
    const payload = { ...this.#ack(attached), session_id: session, task_id: task };
    this.#peer.send({
      type: "handshake_ack",
      payload: run === undefined ? payload : { ...payload, run_id: run.id },
    });
    if (run !== undefined) {
      await runs.resume(run.id);
      const isHere = (await sessions.handOf(run.id)) === attached.hand;
      this.#follow({ run, isHere }, { task: task ?? run.id, after: handshake.resume?.last_seq ?? 0 });
    }
    attached.open();
  }

  /** Answers the open question of the run; the first answer counts, whatever wire it came on. */
  async answer(type: ExecutorAnswer, payload: JsonObject): Promise<void> {
    const { run, follower, isHere = false } = this.#followed ?? {};
    if (type === "user_message") return this.#say(run, payload);
    const open = follower?.openQuestion;
    const isMeant =
      type === "tool_approval"
        ? open?.approves !== undefined && open.approves === payload["tool_call_id"]
        : open?.id === payload["input_request_id"];
    if (run === undefined || open === undefined || !isMeant)
      throw new Fault("CONFLICT", "No open question takes this answer; it may have been answered already.");
    const given =
      type === "tool_approval" ? approvalAnswer(payload, open.options) : { text: textOrEmpty(payload, "response") };
    // The person at an executor decides about the executor's own host. A connection may also follow a run of its owner
    // that works elsewhere: approving there takes the right to approve, as on every other wire.
    const { owner, rights } = this.#caller;
    const right = { ...rights, mayApprove: isHere || rights.mayApprove };
    await this.#deps.runs.answer(run.id, { ...given, by: owner, question: open.id, ...right });
  }

  async #say(run: RunHead | undefined, payload: JsonObject): Promise<void> {
    if (run === undefined) throw new Fault("CONFLICT", "No task is at work here. Begin one with the handshake.");
    const id = textOrEmpty(payload, "message_id") || randomUUIDv7();
    await this.#deps.runs.say(run.id, { id, text: textOrEmpty(payload, "content"), by: this.#caller.owner });
  }

  leave(): void {
    this.#gone.abort();
    if (this.#session === undefined) return;
    // When the store is closed or fails, the hand stays known until forgetAbsent() finds it.
    this.#deps.sessions.forgetIfDone(this.#session).catch(() => undefined);
  }

  #attach(handshake: Handshake, { session, run }: ExecutorSession): Promise<AttachedExecutor> {
    return this.#peer.attach({
      handshake,
      session,
      owner: this.#caller.owner,
      openAction: async () => (run === undefined ? undefined : this.#deps.sessions.openAction(run.id)),
      isOwnRun: (id) => id === this.#followed?.run.id,
      generation: async (id, action) => {
        const { run: own, follower } = this.#followed ?? {};
        return own?.id === id && follower !== undefined ? follower.generation(action) : id;
      },
    });
  }

  /** Starts the task of the handshake, if it has one; a session starts one run at most. */
  async #start(handshake: Handshake, session: string, hand: string): Promise<RunHead | undefined> {
    const { initial_prompt: task, project_spec: spec, model = "", effort, continues_run: before } = handshake;
    if (task === undefined) return undefined;
    const about = spec === undefined ? [] : projectTurns(spec);
    const { run } = await this.#deps.runs.start({
      task,
      owner: this.#caller.owner,
      token: this.#caller.tokenId,
      agent: { ...BUNNY, model: `${BOOTSTRAP}${model}` },
      ...(effort === undefined ? {} : { sampling: { reasoning: effort } }),
      hand,
      workspace: ".",
      thread: session,
      key: hand,
      ...(before === undefined ? { history: about } : { followsRun: await this.#endedRun(before), added: about }),
      budget: { answerMs: EXECUTOR_LIMITS.messageMs },
    });
    return run;
  }

  /** The run that a task goes on from; CONFLICT while it is open. */
  async #endedRun(id: string): Promise<RunHead> {
    const run = await this.#deps.runs.find(id, this.#caller.owner);
    if (run.status === "running" || run.status === "asking")
      throw new Fault("CONFLICT", `Run ${id} is not over. Resume it, or begin without continues_run.`);
    return run;
  }

  #ack({ accepted, rejected, epoch }: AttachedExecutor): Omit<HandshakeAck, "session_id" | "task_id"> {
    return {
      tools_accepted: accepted,
      tools_rejected: rejected,
      server_version: this.#deps.version,
      policy: { timeouts: { exec: HAND_LIMITS.commandCapMs }, max_payload: REGISTER_LIMITS.messageBytes },
      session_epoch: epoch,
    };
  }

  #follow(
    { run, isHere }: Omit<FollowedRun, "follower">,
    { task, after }: { readonly task: string; readonly after: number },
  ): void {
    const { runs } = this.#deps;
    const follower = new ExecutorFollower({
      runs,
      peer: this.#peer,
      run: run.id,
      task,
      after,
      signal: this.#gone.signal,
    });
    this.#followed = { run, isHere, follower };
    follower.follow().catch((thrown: unknown) => this.#peer.hangUp(asFault(thrown)));
  }
}

/** The project description of a handshake, as a turn of the user before the task. */
function projectTurns({ content, file_paths: files = [] }: NonNullable<Handshake["project_spec"]>): readonly Turn[] {
  const about = files.length === 0 ? "" : ` (${files.join(", ")})`;
  return [{ role: "user", text: `[About the project${about}]\n${content}` }];
}

/** An approval as an answer: what `answer` says, else yes or no; changes belong to a yes, and explain a no. */
function approvalAnswer(
  { approved, modifications, answer }: JsonObject,
  options: readonly string[],
): { readonly text: string; readonly input?: JsonObject } {
  if (typeof answer === "string" && answer !== "") return { text: answer };
  const hasChanges = modifications !== undefined && modifications !== null;
  const words = typeof modifications === "string" ? modifications : JSON.stringify(modifications);
  if (approved !== true) return { text: hasChanges ? `no: ${words}` : "no" };
  if (isObject(modifications)) return { text: options[0] ?? "yes", input: modifications };
  return { text: hasChanges ? `${CHANGED_YES}: ${words}` : (options[0] ?? "yes") };
}
