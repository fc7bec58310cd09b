import { CLIENT_LIMITS, HTTP_LIMITS, STREAM_LIMITS } from "@vidro/core";

/*
 * Loaded before a program with `node --import`: the program's patience with the other end of a connection is about a
 * fifteenth of what it is by itself, so that a test need not wait for minutes. Nothing else changes.
 */

Object.assign(STREAM_LIMITS, { sseHeartbeatMs: 1000, glassHeartbeatMs: 700 });
Object.assign(HTTP_LIMITS, { probeIdleMs: 1000, unansweredMs: 1000 });
Object.assign(CLIENT_LIMITS, { silenceMs: 3000, requestMs: 4000, backoffMs: 70 });
