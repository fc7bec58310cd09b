import type { Asker, HandAdmission, HandCatalog, HandDialler, JsonObject, ToolSpec } from "@vidro/core";
import type { AgentCatalog } from "../catalog/agents.ts";
import type { Runs } from "../run/runs.ts";
import type { TelemetryStore } from "../observe/telemetry.ts";
import type { Threads } from "../catalog/threads.ts";
import { answerLinksSurface } from "./answer-links.ts";
import type { AnswerLinksDependencies } from "./answer-links.ts";
import { aboutSurface } from "./about.ts";
import type { AboutDependencies } from "./about.ts";
import { agentSseSurface } from "./agent-sse.ts";
import type { AgentSseDependencies } from "./agent-sse.ts";
import { catalogSurface } from "./catalog.ts";
import { consoleSurface } from "./console.ts";
import type { ConsoleDependencies } from "./console.ts";
import { dialledHands } from "./hands/dialled-hands.ts";
import { handsSurface } from "./hands.ts";
import { invitations } from "./hands/invitations.ts";
import { journalSurface } from "./journal.ts";
import type { JournalDependencies } from "./journal.ts";
import { hooksSurface } from "./hooks.ts";
import type { HookDependencies } from "./hooks.ts";
import { documentsSurface } from "./documents.ts";
import type { DocumentDependencies } from "./documents.ts";
import { keptToolsSurface } from "./kept-tools.ts";
import type { KeptToolDependencies } from "./kept-tools.ts";
import { knowledgeSurface } from "./knowledge.ts";
import type { KnowledgeDependencies } from "./knowledge.ts";
import { mcpSurface } from "./mcp.ts";
import type { McpDependencies } from "./mcp/mcp-tool.ts";
import { evidenceSurface } from "./run-evidence.ts";
import type { EvidenceDependencies } from "./run-evidence.ts";
import { openaiSurface } from "./openai.ts";
import type { ChatDependencies } from "./openai.ts";
import { openApi } from "./ops/openapi.ts";
import { opsSurface } from "./ops.ts";
import type { OpsFacts } from "./ops.ts";
import { policySurface } from "./policy.ts";
import type { PolicyDependencies } from "./policy.ts";
import { schedulesSurface } from "./schedules.ts";
import type { ScheduleDependencies } from "./schedules.ts";
import { tokensSurface } from "./tokens.ts";
import type { TokensDependencies } from "./tokens.ts";
import { usageSurface } from "./usage.ts";
import type { UsageDependencies } from "./usage.ts";
import { webhooksSurface } from "./webhooks.ts";
import type { WebhookDependencies } from "./webhooks.ts";
import type { Surface } from "../http/route.ts";
import { signedHands } from "./hands/signed-hands.ts";

/** Dependencies of all surfaces; none of them reaches a hand or a model. */
export interface SurfaceDependencies
  extends
    AboutDependencies,
    AgentSseDependencies,
    AnswerLinksDependencies,
    ChatDependencies,
    ConsoleDependencies,
    DocumentDependencies,
    EvidenceDependencies,
    HookDependencies,
    JournalDependencies,
    KeptToolDependencies,
    KnowledgeDependencies,
    McpDependencies,
    PolicyDependencies,
    ScheduleDependencies,
    UsageDependencies,
    WebhookDependencies,
    Omit<OpsFacts, "openApi"> {
  readonly runs: Runs;
  readonly threads: Threads;
  readonly agents: AgentCatalog;
  readonly hands: HandCatalog;
  readonly telemetry: TelemetryStore;
  readonly admission: HandAdmission;
  readonly dialler: HandDialler;
  readonly tools: (asker: Asker) => Promise<readonly ToolSpec[]>;
  readonly version: string;
  readonly tokens: AnswerLinksDependencies["tokens"] & ConsoleDependencies["tokens"] & TokensDependencies["tokens"];
}

/** All surfaces; a new one is a file and a line here. The first one words the faults of unknown paths. */
export const SURFACES: readonly ((deps: SurfaceDependencies & OpsFacts) => Surface)[] = [
  opsSurface,
  agentSseSurface,
  catalogSurface,
  keptToolsSurface,
  openaiSurface,
  journalSurface,
  evidenceSurface,
  handsSurface,
  signedHands,
  invitations,
  dialledHands,
  mcpSurface,
  knowledgeSurface,
  documentsSurface,
  schedulesSurface,
  usageSurface,
  webhooksSurface,
  hooksSurface,
  policySurface,
  tokensSurface,
  aboutSurface,
  consoleSurface,
  answerLinksSurface,
];

/** Makes every surface. */
export function surfaces(deps: SurfaceDependencies): readonly Surface[] {
  let document: JsonObject | undefined;
  const describe = (): JsonObject => (document ??= openApi({ version: deps.version, surfaces: all }));
  const all: readonly Surface[] = SURFACES.map((surface) => surface({ ...deps, openApi: describe }));
  return all;
}
