import type { HandAdmission, InvitationLetter, InvitationOptions, Invitee } from "@vidro/core";
import { join } from "node:path";
import { asFault } from "@vidro/core";
import { hasAuthority, openAuthority } from "../enrolment/authority.ts";
import type { SouthboundListener, SouthboundOptions } from "./southbound.ts";

/** Where hands on other machines connect, and when the listener opens. */
export interface HandListenerOptions extends Omit<SouthboundOptions, "folder"> {
  /** The brain's own folder. */
  readonly home: string;
  /** Whether it opens at the start; otherwise it opens with the first invitation, and at each start after that. */
  readonly asked: boolean;
}

/** The folder in a brain's home that holds its authority and the key that secrets of hands are encrypted with. */
export function southFolder(home: string): string {
  return join(home, "ca");
}

/** The certificate of a home's authority, in PEM; creates the authority if there is none. */
export async function homeCertificate(home: string): Promise<string> {
  return (await openAuthority({ folder: southFolder(home), now: Date.now })).certificate;
}

/** The listener for hands on other machines; its code is loaded when it opens. */
export class HandListener implements HandAdmission {
  readonly #options: HandListenerOptions;
  readonly #folder: string;
  #listener: Promise<SouthboundListener> | undefined;

  constructor(options: HandListenerOptions) {
    this.#options = options;
    this.#folder = southFolder(options.home);
  }

  /** Opens the listener if it is to open now, and returns the address that hands dial. */
  async open(): Promise<string | undefined> {
    const { asked, log } = this.#options;
    if (asked) return (await this.#load()).listen();
    if (!(await hasAuthority(this.#folder))) return undefined;
    return (await this.#load()).listen().catch((thrown: unknown) => {
      log("southbound.open_failed", { reason: asFault(thrown).message });
      return undefined;
    });
  }

  /** Invites a host. */
  async invite(who: Invitee, options?: InvitationOptions): Promise<InvitationLetter> {
    return (await this.#load()).invite(who, options);
  }

  /** Gives a hand that signs its messages its next key, and returns the id of that key. */
  async rotateKey(hand: string): Promise<string> {
    return (await this.#load()).rotateKey(hand);
  }

  /** Allows a hand that listens to be called at an address, or at none. */
  async allowAddress(hand: string, url: string | undefined): Promise<void> {
    await (await this.#load()).allowAddress(hand, url);
  }

  /** Hangs up and stops listening. */
  async close(): Promise<void> {
    await (await this.#listener)?.close();
  }

  #load(): Promise<SouthboundListener> {
    this.#listener ??= import("./southbound.ts").then(
      (module) => new module.SouthboundListener({ ...this.#options, folder: this.#folder }),
    );
    return this.#listener;
  }
}
