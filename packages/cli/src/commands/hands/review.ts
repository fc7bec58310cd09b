import { countWords } from "@vidro/core/text";
import { EXIT } from "../../program/exit-codes.ts";
import { say } from "../../program/output.ts";
import { withHomeBrain } from "../../brain-api/open-brain-api.ts";

/** Records that a person reviewed the hands and tokens of this home after it was restored from a backup. */
export async function confirmReview(): Promise<number> {
  const { markReviewed } = await import("@vidro/brain/home");
  const hands = await withHomeBrain(async ({ records, incarnation, hands: far }) => {
    await markReviewed(records, incarnation.generation);
    return far.list({ owner: "", admin: true }).filter(({ barred }) => barred !== "revoked").length;
  });
  say(`${countWords(hands, "hand")} on other machines may come in, as you have seen.`);
  return EXIT.ok;
}
