import { thrownStack } from "@vidro/core";
import { printNote } from "./terminal.ts";

/**
 * From now on an uncaught error is logged with its stack and does not end the process: actions that began are in the
 * ledger, and an order without an answer ends by its deadline at the brain.
 */
export function surviveErrors(): void {
  process.removeAllListeners("uncaughtException").on("uncaughtException", (thrown: unknown) => {
    printNote(`vidro-hand: an error reached the process, which goes on: ${thrownStack(thrown)}`);
  });
}
