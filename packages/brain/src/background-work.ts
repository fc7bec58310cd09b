import { asFault } from "@vidro/core";
import type { Brain } from "./brain.ts";
import type { Config } from "./config.ts";
import { RunRetention } from "./daemon/run-retention.ts";
import { startScheduled } from "./north/schedules.ts";
import type { ScheduleDependencies } from "./north/schedules.ts";
import type { Log } from "./observe/log.ts";
import { Deliverer } from "./webhooks/deliverer.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";
import { Scheduler } from "./schedules/scheduler.ts";

/** Dependencies of a daemon's own work. */
interface BackgroundDependencies {
  readonly brain: Brain;
  readonly config: Config;
  readonly scheduled: ScheduleDependencies;
  readonly webhooks: Webhooks;
  readonly log: Log;
}

/** The work that a daemon does by itself, beside requests and runs. */
export interface BackgroundWork {
  /** Stops it between two commits. */
  close(): Promise<void>;
}

/** Starts to delete old runs, to start scheduled ones, to send messages to webhooks, and to index documents. */
export function startBackgroundWork(deps: BackgroundDependencies): BackgroundWork {
  const { brain, config, scheduled, webhooks, log } = deps;
  const retention = openRetention(brain, config);
  retention?.start(
    (runs) => log("runs.pruned", { runs }),
    (thrown) => log("runs.prune_failed", { ...asFault(thrown).report() }),
  );
  const scheduler = new Scheduler({
    schedules: scheduled.schedules,
    now: Date.now,
    start: (schedule, key) => startScheduled(scheduled, schedule, key),
    started: ({ id }, run) => log("schedule.started", { schedule_id: id, run_id: run }),
    failed: ({ id }, { code, message }) => log("schedule.failed", { schedule_id: id, code, reason: message }),
  });
  scheduler.start();
  const deliverer = new Deliverer({
    webhooks,
    journal: brain.journal,
    now: Date.now,
    gaveUp: (hook, { run, seq }, reason) => log("webhook.gave_up", { webhook_id: hook.id, run_id: run, seq, reason }),
  });
  deliverer.start();
  brain.documents.start((thrown) => log("documents.failed", { ...asFault(thrown).report() }));
  return {
    async close() {
      await Promise.all([retention?.close(), scheduler.close(), deliverer.close()]);
    },
  };
}

/** The deletion of old runs by the settings. */
function openRetention({ retention, journal }: Brain, config: Config): RunRetention | undefined {
  const exportTo = config.get("keep_export");
  const rules = {
    days: config.get("keep_days"),
    storeMib: config.get("keep_store_mib"),
    ...(exportTo === undefined ? {} : { exportTo }),
  };
  return retention === undefined ? undefined : new RunRetention({ retention, journal, now: Date.now }, rules);
}
