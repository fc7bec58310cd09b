import { CHAT_LIMITS, Fault } from "@vidro/core";
import type { HandCatalog, ToolSpec } from "@vidro/core";
import type { AgentCatalog } from "../../catalog/agents.ts";
import { BUNNY, BUNNY_UUID } from "../../catalog/agent.ts";
import type { AgentProfile } from "../../catalog/agent.ts";
import type { Thread, Threads } from "../../catalog/threads.ts";
import type { RouteCall } from "../../http/route.ts";
import type { Runs } from "../../run/runs.ts";
import { answerRights } from "../approval-rights.ts";
import type { ApprovalRights } from "../approval-rights.ts";
import { selectHand } from "../hand-selector.ts";
import { wantsPerson } from "../journal/glass-lines.ts";
import type { Witnesses } from "../question-witnesses.ts";
import type { AnswerContext } from "./answer.ts";
import { findAnswerStart } from "./answer-start.ts";
import type { ChatSetting } from "./answer-start.ts";
import { refusalAt } from "./caller-tools.ts";
import type { TurnRequest } from "./request.ts";

/** Dependencies of beginning an answer. */
export interface AnswerDependencies extends ApprovalRights {
  readonly runs: Runs;
  readonly agents: AgentCatalog;
  readonly threads: Threads;
  readonly hands: Pick<HandCatalog, "select" | "tools">;
  /** The folder that the local hand works in. */
  readonly workspace: string;
  readonly now?: () => number;
  readonly witnesses: Witnesses;
}

/** The agent that answers, and its hands. */
export interface Cast extends Pick<ChatSetting, "tools" | "thread" | "continues" | "sampling" | "hand" | "budget"> {
  readonly agent: AgentProfile;
  /** Whether hands of ours work beside tools of the caller; a caller without tools of its own always has hands. */
  readonly hasHands: boolean;
}

const WITH_HANDS = "+hands";

/** The agent that a model id names, otherwise the model of that name; with `+hands` behind it, it has hands beside the caller's own tools. */
export async function castModel(agents: AgentCatalog, model: string | null | undefined): Promise<Cast> {
  const id = model ?? BUNNY_UUID;
  const hasHands = id.endsWith(WITH_HANDS);
  const name = hasHands ? id.slice(0, -WITH_HANDS.length) : id;
  const agent = await agents.find(name).catch((thrown: unknown) => modelAgent(name, thrown));
  return { agent, hasHands, ...(agent.tools === null ? {} : { tools: agent.tools }) };
}

/** The default agent with a model by its own name, such as `anthropic/claude-opus-5-5`, which no agent has. */
function modelAgent(name: string, thrown: unknown): AgentProfile & { readonly tools: null } {
  if (!name.includes("/")) throw thrown;
  return { ...BUNNY, model: name, tools: null };
}

/** Who answers in a conversation; it has hands where it names tools or hands, or its wire always gives them. */
export async function castThread(
  { threads, hands }: Pick<AnswerDependencies, "threads" | "hands">,
  thread: Thread,
  { caller }: Pick<RouteCall, "caller">,
): Promise<Cast> {
  const where = selectHand(hands, thread.hand, caller);
  const hasHands = thread.tools !== null || thread.hand !== undefined;
  return { ...(await threads.cast(thread)), ...where, hasHands };
}

/** Finds or starts the run that answers a request. */
export async function beginAnswer(
  deps: AnswerDependencies,
  call: RouteCall,
  { asked, cast }: { readonly asked: TurnRequest; readonly cast: Cast },
): Promise<AnswerContext> {
  const { runs, now = Date.now } = deps;
  await assertChoice(deps, asked, cast);
  const setting = settingOf(deps, call, { asked, cast });
  const { tokenId } = call.caller;
  const wasShown = (run: string): boolean => deps.witnesses.has(tokenId, run);
  const client = { wasShown, rights: answerRights(call.caller, deps) };
  const place = await findAnswerStart(runs, { asked, setting, client });
  deps.witnesses.show(tokenId, place.run);
  return { ...place, model: cast.agent.name, at: now(), tools: await toolsOf(runs, place.run) };
}

/** The tools that a run was started with. */
export async function toolsOf(runs: Pick<Runs, "readStart">, run: string): Promise<readonly ToolSpec[]> {
  return (await runs.readStart(run))?.tools ?? [];
}

function settingOf(
  { workspace }: AnswerDependencies,
  call: RouteCall,
  { asked, cast }: { readonly asked: TurnRequest; readonly cast: Cast },
): ChatSetting {
  const { hasHands, sampling: before, ...who } = cast;
  const sampling = { ...before, ...asked.sampling };
  const isCallersOnly = asked.callerTools.length > 0 && !hasHands;
  return {
    ...who,
    owner: call.caller.owner,
    token: call.caller.tokenId,
    workspace,
    agent: { ...cast.agent, prompt: promptOf(cast.agent, asked.system, isCallersOnly) },
    callerTools: asked.callerTools,
    ...(isCallersOnly ? { tools: [], budget: { ...CALLER_BUDGET, ...cast.budget } } : {}),
    // With the choice `none` no tools are offered at all: not every model obeys the setting.
    ...(asked.choice === "none" ? { tools: [], callerTools: [] } : {}),
    ...(asked.choice === undefined ? {} : { choice: asked.choice }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    interactive: wantsPerson(call),
    ...(call.key === undefined ? {} : { key: call.key }),
  };
}

const CALLER_BUDGET = { steps: CHAT_LIMITS.callerSteps, tokens: CHAT_LIMITS.callerTokens };

/** The persona and the caller's words; the persona of the default agent is about hands, and goes where they go. */
function promptOf({ prompt }: AgentProfile, system: string, isCallersOnly: boolean): string {
  if (system === "") return prompt;
  return isCallersOnly && prompt === BUNNY.prompt ? system : `${prompt}\n\n${system}`;
}

/** Refuses a choice of a tool that neither the caller nor the agent has. */
async function assertChoice(
  { hands }: Pick<AnswerDependencies, "hands">,
  { choice, callerTools }: TurnRequest,
  { tools: belt, hand, hasHands }: Cast,
): Promise<void> {
  if (typeof choice !== "object" || callerTools.some((tool) => tool.name === choice.tool)) return;
  const isCallersOnly = callerTools.length > 0 && !hasHands;
  const names = isCallersOnly ? [] : (belt ?? (await hands.tools(hand)).map((tool) => tool.name));
  if (names.includes(choice.tool)) return;
  throw refusalAt(`The tool ${choice.tool} is to be called, but it is not among the tools.`, "/tool_choice");
}

const ON_DISCONNECT = "x-vidro-on-disconnect";

/**
 * Stops the run of an answer when its client disconnects before the answer is whole, if the client asked for that.
 * Returns a function that ends the watch.
 */
export function stopOnDisconnect(runs: Runs, run: string, { headers, gone }: RouteCall): () => void {
  if (!asksToStop(headers)) return () => undefined;
  const stop = (): void => void runs.abort(run, "The client disconnected.").catch(() => undefined);
  gone.addEventListener("abort", stop, { once: true });
  if (gone.aborted) stop();
  return () => gone.removeEventListener("abort", stop);
}

/** Whether a request asks for its run to be stopped when the client disconnects; BAD_REQUEST for any other wish. */
export function asksToStop(headers: RouteCall["headers"]): boolean {
  const wish = headers[ON_DISCONNECT] ?? "continue";
  if (wish === "stop" || wish === "continue") return wish === "stop";
  throw new Fault("BAD_REQUEST", "X-Vidro-On-Disconnect is stop or continue.");
}
