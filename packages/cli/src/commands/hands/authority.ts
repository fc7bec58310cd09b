import { EXIT } from "../../program/exit-codes.ts";
import { print } from "../../program/output.ts";
import { homeFolder } from "../../program/settings.ts";

/** Prints the certificate of this home's brain; its authority is created when there is none yet. */
export async function printAuthority(): Promise<number> {
  const { homeCertificate } = await import("@vidro/brain/home");
  print(...(await homeCertificate(homeFolder())).trimEnd().split("\n"));
  return EXIT.ok;
}
