import { EXECUTOR_LIMITS, REGISTER_LIMITS, SIGNED_HTTP_LIMITS, SOUTHBOUND_LIMITS } from "@vidro/core";

/*
 * Loaded before a program with `node --import`: besides what is hurried elsewhere, a hand and its brain show each other
 * that they live thirty times as often as they do by themselves.
 */

/** Three of these without a sign of life are too many. */
export const HEARTBEAT_MS = 500;

Object.assign(REGISTER_LIMITS, { heartbeatMs: HEARTBEAT_MS, redialMs: 50, redialCapMs: 200, firstDials: 1000 });
Object.assign(SIGNED_HTTP_LIMITS, { pollMs: HEARTBEAT_MS, replyMs: 1500 });
Object.assign(SOUTHBOUND_LIMITS, { dialMs: 5000, answerMs: 5000, telemetryMs: HEARTBEAT_MS });
Object.assign(EXECUTOR_LIMITS, { handshakeMs: 5000 });
