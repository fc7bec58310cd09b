import type { HandAdmission, InvitationLetter, Invitee } from "@vidro/core";
import { join } from "node:path";
import { asFault } from "@vidro/core";
import { hasAuthority, openAuthority } from "../enrolment/authority.ts";
import type { SouthboundListener, SouthboundOptions } from "./southbound.ts";

/** How the door is to be. */
export interface HandListenerOptions extends Omit<SouthboundOptions, "folder"> {
  /** The brain's own folder. */
  readonly home: string;
  /** Whether it was asked for; else it opens with the first invitation, and stays open for those who were invited. */
  readonly asked: boolean;
}

/** Where, in a brain's own folder, its authority is kept, and the secret that the secrets of hands are encrypted with. */
export function southFolder(home: string): string {
  return join(home, "ca");
}

/** The certificate of a home's authority, in PEM; the authority is made when there is none yet. */
export async function homeCertificate(home: string): Promise<string> {
  return (await openAuthority({ folder: southFolder(home), now: Date.now })).certificate;
}

/** The door for hands on other machines, of which nothing is loaded before it opens. */
export class HandListener implements HandAdmission {
  readonly #options: HandListenerOptions;
  readonly #folder: string;
  #door: Promise<SouthboundListener> | undefined;

  constructor(options: HandListenerOptions) {
    this.#options = options;
    this.#folder = southFolder(options.home);
  }

  /** Opens the door if it is to be open, and gives the address that hands dial. */
  async open(): Promise<string | undefined> {
    const { asked, log } = this.#options;
    if (asked) return (await this.#loaded()).listen();
    if (!(await hasAuthority(this.#folder))) return undefined;
    return (await this.#loaded()).listen().catch((thrown: unknown) => {
      log("southbound.open_failed", { reason: asFault(thrown).message });
      return undefined;
    });
  }

  /** Invites a host. */
  async invite(who: Invitee, lifeMs?: number): Promise<InvitationLetter> {
    return (await this.#loaded()).invite(who, lifeMs);
  }

  /** Gives a hand that signs its messages its next key, and tells the name of that key. */
  async rotateKey(hand: string): Promise<string> {
    return (await this.#loaded()).rotateKey(hand);
  }

  /** Lets a hand that listens be called at an address, or at none. */
  async allowAddress(hand: string, url: string | undefined): Promise<void> {
    await (await this.#loaded()).allowAddress(hand, url);
  }

  /** Hangs up and stops listening. */
  async close(): Promise<void> {
    await (await this.#door)?.close();
  }

  #loaded(): Promise<SouthboundListener> {
    this.#door ??= import("./southbound.ts").then(
      (module) => new module.SouthboundListener({ ...this.#options, folder: this.#folder }),
    );
    return this.#door;
  }
}
