import { printNote } from "./terminal.ts";

/**
 * From now on an error that reaches the process, whatever message or timer brought it about, is told whole and ends
 * nothing: what was begun is in the ledger, and an order that stays without an answer ends by its own deadline at the
 * brain.
 */
export function surviveErrors(): void {
  process.removeAllListeners("uncaughtException").on("uncaughtException", (thrown: unknown) => {
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    printNote(`vidro-hand: an error reached the process, which goes on: ${stack}`);
  });
}
