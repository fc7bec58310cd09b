import type { HandRecord } from "@vidro/client";

/** The hands of a brain, be it in this process or behind a wire. Rejections are Faults. */
export interface HandApi {
  /** All of them, or those that a selector means. */
  list(select?: string): Promise<readonly HandRecord[]>;
  /** The hand of that id or name; NOT_FOUND when there is none. */
  find(named: string): Promise<HandRecord>;
  /** Ends a hand for good. */
  revoke(named: string, why?: string): Promise<HandRecord>;
  /** Gives a hand no new work. */
  quarantine(named: string, why?: string): Promise<HandRecord>;
  /** Lets a hand work again. */
  release(named: string): Promise<HandRecord>;
}
