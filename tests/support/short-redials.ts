import { flushCompileCache } from "node:module";
import { CLIENT_LIMITS, REGISTER_LIMITS } from "@vidro/core";

/*
 * Loaded before a program with `node --import`: an end that has lost the other dials again at once and as often
 * as it takes, so that a test which kills both ends again and again need not wait for them. Nothing else changes.
 */

Object.assign(REGISTER_LIMITS, { redialMs: 20, redialCapMs: 100, firstDials: 1000 });
Object.assign(CLIENT_LIMITS, { backoffMs: 20, backoffCapMs: 100, retries: 999 });
// A program that is killed would leave nothing compiled behind for its next life.
setTimeout(flushCompileCache, 400).unref();
