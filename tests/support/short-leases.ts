import { RUN_LIMITS } from "@vidro/core";

/*
 * Loaded before a program with `node --import`: a lease ends after three seconds without renewal, so that a test need not
 * wait for twenty until the runs of a brain that stands still are taken over. Nothing else changes.
 */

Object.assign(RUN_LIMITS, { leaseMs: 3000, sweepMs: 500 });
