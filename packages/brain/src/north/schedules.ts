import { Fault, RUN_LIMITS, SCHEDULE_LIMITS } from "@vidro/core";
import type { HandCatalog, JsonObject } from "@vidro/core";
import type { Tokens } from "../auth/tokens.ts";
import { visibleOwner } from "./approval-rights.ts";
import type { AgentCatalog } from "../catalog/agents.ts";
import type { Threads } from "../catalog/threads.ts";
import { andOneMore, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import type { Reply, Route, RouteCall, Surface } from "../http/route.ts";
import type { Runs } from "../run/runs.ts";
import { parseCron } from "../schedules/cron.ts";
import type { Schedule, ScheduleInput, Schedules } from "../schedules/schedules.ts";
import { SELECTOR } from "./hand-selector.ts";
import { plainFault } from "./ops.ts";
import { folderOf, runSetting, WORKSPACE } from "./run-setting.ts";

/* Tasks that are run at certain times, by the rights of the token that asked for them. */

/** Dependencies of this surface. */
export interface ScheduleDependencies {
  readonly schedules: Schedules;
  readonly runs: Pick<Runs, "start" | "list">;
  readonly agents: Pick<AgentCatalog, "find">;
  readonly threads: Pick<Threads, "find" | "cast">;
  readonly hands: Pick<HandCatalog, "select">;
  readonly tokens: Pick<Tokens, "callerOf">;
  readonly workspace: string;
}

/** Adds, lists and removes schedules. */
export function schedulesSurface(deps: ScheduleDependencies): Surface {
  const route = (
    target: string,
    shapes: Pick<Route, "summary" | "query" | "body" | "answer">,
    handle: Route["handle"],
  ): Route => {
    const [method = "GET", path = ""] = target.split(" ");
    return { method: method as Route["method"], path, scope: "runs", ...shapes, handle };
  };
  return {
    name: "schedules",
    faultBody: plainFault,
    routes: [
      route(
        "GET /v1/schedules",
        { summary: "Your schedules, oldest first", query: pageQuery(), answer: ROWS },
        (call) => list(deps, call),
      ),
      {
        ...route("POST /v1/schedules", { summary: "Run a task at certain times", body: INPUT, answer: ROW }, (call) =>
          add(deps, call),
        ),
        status: 201,
      },
      route("GET /v1/schedules/{schedule}", { summary: "A schedule", answer: ROW }, async (call) => ({
        json: rowOf(await findNamed(deps, call)),
      })),
      route(
        "DELETE /v1/schedules/{schedule}",
        { summary: "Remove a schedule; its runs stay", answer: ROW },
        async (call) => {
          const schedule = await findNamed(deps, call);
          await deps.schedules.remove(schedule.id);
          return { json: rowOf(schedule) };
        },
      ),
    ],
  };
}

/** Starts the run of a schedule by the rights that its token has now; gives the id of the run. */
export async function startScheduled(deps: ScheduleDependencies, schedule: Schedule, key: string): Promise<string> {
  const { task, agent, hand, workspace, model, owner, token } = schedule;
  const caller = await deps.tokens.callerOf(token);
  const { run } = await deps.runs.start({
    task,
    owner,
    token,
    key,
    workspace: folderOf(workspace, deps.workspace, caller),
    ...(await runSetting(deps, hand === undefined ? {} : { hand }, caller)),
    ...(agent === undefined ? {} : { agent: await deps.agents.find(agent) }),
    ...(model === undefined ? {} : { model }),
  });
  return run.id;
}

async function list({ schedules }: ScheduleDependencies, call: RouteCall): Promise<Reply> {
  const page = pageOf(call);
  const owner = visibleOwner(call.caller);
  const found = await schedules.list({ ...andOneMore(page), ...(owner === undefined ? {} : { owner }) });
  return pageReply(found, page, { id: ({ id }) => id, json: (shown) => ({ schedules: shown.map(rowOf) }) });
}

async function add(deps: ScheduleDependencies, { body, caller }: RouteCall): Promise<Reply> {
  const input = body as unknown as ScheduleInput;
  // Refused now rather than when it is due.
  await deps.tokens.callerOf(caller.tokenId).catch((cause: unknown) => {
    throw new Fault("FORBIDDEN", "A schedule takes a token of this brain, by whose rights its runs are started.", {
      cause,
    });
  });
  folderOf(input.workspace, deps.workspace, caller);
  if (input.agent !== undefined) await deps.agents.find(input.agent);
  if (input.hand !== undefined) deps.hands.select(input.hand, caller);
  const made = await deps.schedules.add(input, { owner: caller.owner, token: caller.tokenId });
  return { json: rowOf(made), status: 201, headers: { location: `/v1/schedules/${made.id}` } };
}

function findNamed({ schedules }: ScheduleDependencies, { params, caller }: RouteCall): Promise<Schedule> {
  return schedules.find(params["schedule"] ?? "", visibleOwner(caller));
}

/** A schedule as clients see it, with its next time. */
function rowOf(schedule: Schedule): JsonObject {
  const { token: _, doneUpTo, missed = "once", ...row } = schedule;
  return { ...row, missed, nextAt: parseCron(schedule.cron).next(Math.max(doneUpTo, schedule.createdAt)) ?? null };
}

const NAME = { type: "string", minLength: 1, maxLength: 128 };
const GIVEN = {
  cron: {
    type: "string",
    minLength: 1,
    maxLength: SCHEDULE_LIMITS.cronChars,
    description: "Minute, hour, day of the month, month, day of the week, as cron has them, in the brain's time zone.",
  },
  task: { type: "string", minLength: 1, maxLength: RUN_LIMITS.taskChars, pattern: "\\S" },
  agent: NAME,
  hand: SELECTOR,
  workspace: WORKSPACE,
  model: { ...NAME, maxLength: RUN_LIMITS.lineChars },
  missed: {
    enum: ["once", "skip"],
    description: "Whether times that passed while no brain was up get one run or none. Default: once.",
  },
};
const INPUT = { type: "object", additionalProperties: false, properties: GIVEN, required: ["cron", "task"] };
const TIME = { type: "integer", description: "Milliseconds since the epoch." };
const ROW = {
  type: "object",
  properties: {
    ...GIVEN,
    id: NAME,
    owner: NAME,
    createdAt: TIME,
    nextAt: { ...TIME, type: ["integer", "null"] },
    lastRun: NAME,
    lastFault: { type: "string", description: "Why no run could be started for the last time." },
  },
  required: ["id", "owner", "cron", "task", "missed", "createdAt", "nextAt"],
};
const ROWS = { type: "object", properties: { schedules: { type: "array", items: ROW } }, required: ["schedules"] };
