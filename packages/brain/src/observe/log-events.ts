import type { EventType } from "@vidro/core";

/** Severity of a line of the log. */
export type Level = "debug" | "info" | "warn" | "error";

/** Level and sentence of a kind of log line. */
type LogEvent = readonly [level: Level, message: string];

/** Journal events: each durable entry is also one line of the log, without what was said or done. */
const JOURNAL_EVENTS: { readonly [Type in EventType]: LogEvent } = {
  "run.started": ["info", "A run started."],
  "intent.analyzed": ["info", "The task of a run was analysed and its ordinary handling changed."],
  "model.called": ["info", "A run is about to call its model."],
  "model.replied": ["info", "The model of a run replied."],
  "model.failed": ["warn", "The model of a run gave no usable reply."],
  "plan.made": ["info", "The model stated what it plans to do."],
  "note.observed": ["info", "The model summarised what it saw."],
  "knowledge.committed": ["info", "The model kept a piece of knowledge beyond its run."],
  "tool.proposed": ["info", "The model proposed a tool that does not exist yet."],
  "context.compacted": ["info", "The oldest turns of a conversation were replaced by a digest."],
  "question.asked": ["info", "A run asked a person and waits for the answer."],
  "question.answered": ["info", "The question of a run was answered, or its time ran out."],
  "remark.made": ["info", "A person said something to a run at work."],
  "policy.judged": ["info", "A hand's policy judged the plan of an action."],
  "action.started": ["info", "An action is about to be ordered from a hand."],
  "action.finished": ["info", "An action ended with an outcome."],
  "action.failed": ["info", "An action was not carried out."],
  "action.unknown": ["warn", "An action began, and its outcome cannot be known."],
  "heal.tried": ["warn", "A remedy was tried so that a fault does not end the run."],
  "run.finished": ["info", "A run finished with a result."],
  "run.failed": ["warn", "A run failed."],
  "run.aborted": ["info", "A run was aborted by a person or a client."],
};

/** Every kind of line that a brain logs, by its stable name: a noun and what happened to it. */
export const LOG_EVENTS = {
  ...JOURNAL_EVENTS,
  "daemon.started": ["info", "The daemon is up and serves requests."],
  "daemon.stopped": ["info", "The daemon is down."],
  "error.contained": ["error", "An error escaped every handler; it ended only its own run, request or link."],
  "health.restored": ["info", "A part of the daemon works again."],
  "health.degraded": ["warn", "A part of the daemon works only in part."],
  "health.lost": ["error", "A part of the daemon does not work."],
  "settings.reloaded": ["info", "Settings were read again from their files."],
  "settings.reload_failed": ["warn", "Settings could not be read again; the ones before stay in force."],
  "signal.ignored": ["info", "A signal arrived that does nothing here."],
  "log.dropped": ["warn", "Lines of the log were dropped because their reader was too slow."],
  "http.answered": ["info", "A request was answered."],
  "http.failed": ["warn", "A request was answered with a server error."],
  "http.faulted": ["error", "A request met a bug in Vidro."],
  "websocket.opened": ["info", "A request became a WebSocket."],
  "websocket.faulted": ["error", "A request for a WebSocket met a bug in Vidro."],
  "jwt.unrestricted": [
    "warn",
    "The issuer or the audience of signed tokens is not set: every token signed with the same key is accepted.",
  ],
  "schedule.started": ["info", "A run was started because its schedule was due."],
  "schedule.failed": ["warn", "No run could be started for a schedule that was due."],
  "documents.failed": ["warn", "The folders of documents could not be indexed; the next look tries again."],
  "webhook.gave_up": ["warn", "A message to a webhook was given up after its last attempt."],
  "runs.pruned": ["info", "Ended runs were deleted because they need not be kept longer."],
  "runs.prune_failed": ["warn", "Old runs could not be deleted; the next hour tries again."],
  "run.faulted": ["error", "A run met a bug in Vidro."],
  "run.lease_lost": ["warn", "Another brain drives a run that this one drove; this one has stopped."],
  "run.unreadable": ["warn", "The journal of a run cannot be read."],
  "run.resume_failed": ["warn", "An open run could not be resumed."],
  "run.revoked": ["info", "A run was aborted because the token that started it was revoked."],
  "runs.resumed": ["info", "Open runs that no process drove were resumed."],
  "runs.search_failed": ["warn", "Open runs could not be searched for; the next sweep tries again."],
  "runs.revoke_failed": ["warn", "Runs of revoked tokens could not be aborted yet; this is tried again."],
  "store.restored": ["warn", "The store came back from a backup; runs that were open wait for an answer."],
  "store.unreviewed": [
    "warn",
    "Hands and tokens are as they were in the backup: one that was revoked later is accepted again.",
  ],
  "revocation.reapplied": ["warn", "A revocation that the restored store had lost was applied again."],
  "revocation.not_mirrored": ["error", "A revocation is in the store, but could not be written to the file beside it."],
  "hand.enrolled": ["info", "A host was enrolled."],
  "hand.connected": ["info", "A hand connected."],
  "hand.disconnected": ["info", "A hand disconnected."],
  "hand.refused": ["warn", "A hand was refused."],
  "hand.hung_up": ["warn", "The connection of a hand was closed because of what it sent."],
  "hand.forgotten": ["info", "A hand that had been away for long was forgotten."],
  "hand.duplicated": [
    "warn",
    "A second hand connected with the identity of one that is connected; the newest one counts.",
  ],
  "hand.ahead": ["error", "A hand has seen a later state of this brain; vidro up --restored lets it in."],
  "hand.restriction_changed": ["warn", "A hand was quarantined, revoked or released."],
  "hand.restrictions_unreadable": ["error", "The restrictions of hands could not be read."],
  "hand.tools_refused": ["warn", "Tools that a hand offers were refused."],
  "mcp.unmounted": ["warn", "An MCP server of the local hand, or one of its tools, is left out."],
  "hand.address_refused": ["warn", "A hand named an address to be called at that no administrator has allowed."],
  "hand.key_rotated": ["info", "A hand was given its next key."],
  "hand.certificate_renewed": ["info", "A hand was given its next certificate."],
  "hand.certificate_copied": [
    "error",
    "A certificate was used again after the next one: there is a copy of it, and its hand is quarantined.",
  ],
  "hand.unreachable": ["warn", "A hand that listens could not be reached."],
  "hand.dial_failed": ["error", "A hand that listens cannot be dialled."],
  "hand.message_faulted": ["error", "A message of a hand met a bug in Vidro."],
  "southbound.refused": ["warn", "A request of a host was refused."],
  "southbound.faulted": ["error", "A request of a host met a bug in Vidro."],
  "southbound.accept_failed": ["warn", "A connection of a host could not be accepted."],
  "southbound.renewal_failed": ["error", "The certificate of the listener for hands could not be renewed."],
  "southbound.open_failed": ["warn", "The listener for hands could not be opened; remote hands cannot reconnect."],
  "executor.faulted": ["error", "The connection of an executor met a bug in Vidro."],
  "executor.purge_failed": ["warn", "Executors that had been away for long could not be forgotten."],
} as const satisfies { readonly [name: string]: LogEvent };

/** The stable name of a kind of log line. */
export type LogEventName = keyof typeof LOG_EVENTS;
