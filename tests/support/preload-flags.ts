import { bundledCommands } from "../../scripts/test-bundle.js";

/* Flags of Node with which a bundled command loads a module of the tests first, one that changes its bounds. */

function flagsFor(module: string): readonly string[] {
  return ["--import", bundledCommands().program(module)];
}

/** An end that has lost the other dials again at once. */
export const SHORT_REDIALS_FLAGS = flagsFor("short-redials");
/** The runs of a brain that stands still are taken over after seconds. */
export const SHORT_LEASES_FLAGS = flagsFor("short-leases");
/** The program's patience with the other end of a connection is short. */
export const SHORT_TIMEOUTS_FLAGS = flagsFor("short-timeouts");
/** Consumers that do not read are left alone for long. */
export const PATIENT_STREAMS_FLAGS = flagsFor("patient-streams");
/** The same as with short timeouts, and a hand and its brain show each other often that they are there. */
export const SHORT_HEARTBEATS_FLAGS = [...SHORT_TIMEOUTS_FLAGS, ...flagsFor("short-heartbeats")];
