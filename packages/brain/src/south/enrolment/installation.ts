import { createHash, X509Certificate } from "node:crypto";
import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import { ARCHIVE_PATH, INSTALL_PATH } from "@vidro/core/wire/enrolment";
import type { SouthboundRoute } from "../agent-ws/southbound-server.ts";
import type { HandArchives } from "./archives.ts";
import { AttemptLimit } from "./attempt-limit.ts";

/** The install script of a brain, as invited hosts get it. */
interface InstallScript {
  readonly text: string;
  /** In hexadecimal; the line of the invitation has it. */
  readonly sha256: string;
  /** SHA-256 of the listener's public key, in base64. */
  readonly pin: string;
}

/** Where hosts reach the listener, and its certificates in PEM. */
interface ListenerPlace {
  /** The address that hands dial. */
  readonly url: string;
  readonly cert: string;
}

/** The install script with the archives that there are now; NOT_FOUND when there is none. */
export async function installScript(
  archives: HandArchives | undefined,
  { url, cert }: ListenerPlace,
): Promise<InstallScript> {
  const found = (await archives?.list()) ?? [];
  if (archives === undefined || found.length === 0) throw noArchives();
  const key = new X509Certificate(cert).publicKey.export({ type: "spki", format: "der" });
  const pin = createHash("sha256").update(key).digest("base64");
  const values = {
    ARCHIVES: found.map(({ platform, name, sha256 }) => `${platform} ${name} ${sha256}`).join("\n"),
    URL: `https://${new URL(url).host}${ARCHIVE_PATH}?platform=`,
    PIN: pin,
    BRAIN: url,
  };
  const template = await archives.template();
  const text = Object.entries(values).reduce(
    (script, [name, value]) => script.replaceAll(`@${name}@`, value),
    template,
  );
  return { text, sha256: createHash("sha256").update(text).digest("hex"), pin };
}

const DOWNLOADS = {
  burst: SOUTHBOUND_LIMITS.installBurst,
  everyMs: SOUTHBOUND_LIMITS.installEveryMs,
  kept: SOUTHBOUND_LIMITS.enrolAddresses,
};

/**
 * The routes by which an invited host gets the install script and its archive. They ask for no secret, since neither is
 * one: what a host may do is decided when it enrols.
 */
export function archiveRoutes(
  archives: HandArchives | undefined,
  script: () => Promise<InstallScript>,
): readonly SouthboundRoute[] {
  const attempts = new AttemptLimit(DOWNLOADS);
  let open = 0;
  return [
    {
      method: "GET",
      path: INSTALL_PATH,
      maxBytes: 0,
      async handle({ address }) {
        attempts.takeAttempt(address);
        return { text: (await script()).text, headers: { "content-type": "text/x-shellscript; charset=utf-8" } };
      },
    },
    {
      method: "GET",
      path: ARCHIVE_PATH,
      maxBytes: 0,
      async handle({ address, target, signal }) {
        attempts.takeAttempt(address);
        if (archives === undefined) throw noArchives();
        if (open >= SOUTHBOUND_LIMITS.downloads)
          throw new Fault("RATE_LIMITED", "Many hosts install at once; try again in a moment.", {
            retryAfterMs: SOUTHBOUND_LIMITS.downloadRestMs,
          });
        const platform = new URLSearchParams(target.split("?")[1]).get("platform") ?? "";
        const ends = AbortSignal.any([signal, AbortSignal.timeout(SOUTHBOUND_LIMITS.downloadMs)]);
        open += 1;
        const { stream, bytes } = await archives.read(platform, ends).catch((thrown: unknown) => {
          open -= 1;
          throw thrown;
        });
        stream.once("close", () => (open -= 1));
        return { stream, headers: { "content-type": "application/gzip", "content-length": String(bytes) } };
      },
    },
  ];
}

function noArchives(): Fault {
  return new Fault("NOT_FOUND", "This brain has no archive to give; the host needs Vidro before it joins.");
}
