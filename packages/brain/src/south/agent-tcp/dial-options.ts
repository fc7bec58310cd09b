import type { Records } from "@vidro/core";
import type { Log } from "../../observe/log.ts";
import type { HandRegister } from "../register/hand-register.ts";

/** Dependencies of dialling. */
export interface TcpDiallerOptions {
  /** Where the secret is kept that tokens are encrypted with. */
  readonly folder: string;
  readonly records: Records;
  readonly hands: HandRegister;
  readonly log: Log;
}

/** The kind of record that is a hand which is dialled. */
export const DIALLED_HAND = "dialled-hand";
