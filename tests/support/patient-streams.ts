import { MINUTE_MS, STREAM_LIMITS } from "@vidro/core";

/*
 * Loaded before a program with `node --import`: a consumer that does not read is left alone for ten minutes, so that a
 * busy machine has the time to look at what many of them cost. Nothing else changes.
 */

Object.assign(STREAM_LIMITS, { drainMs: 10 * MINUTE_MS });
