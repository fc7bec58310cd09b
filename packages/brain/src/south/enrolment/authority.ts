import { createHash, createPrivateKey, randomUUID, sign, webcrypto, X509Certificate } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type * as X509Module from "@peculiar/x509";
import { asFault, Fault, SOUTHBOUND_LIMITS } from "@vidro/core";

/** A certificate and its key, in PEM. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
}

/** A certificate issued to a hand. */
export interface IssuedCertificate {
  /** In PEM. */
  readonly certificate: string;
  /** In the format of `X509Certificate.serialNumber`. */
  readonly serial: string;
  readonly expiresAt: number;
}

/** The certificate authority of a brain, for its listener and its hands only. */
export interface Authority {
  /** The brain's id, which is the trust domain of its hands' names. */
  readonly brain: string;
  /** In PEM. */
  readonly certificate: string;
  /** SHA-256 of the certificate, in base64url. */
  readonly fingerprint: string;
  /** Key and certificate chain of a listener for these host names and addresses. */
  forListener(names: readonly string[]): Promise<Credentials>;
  /** Signs a text with the key that hands have pinned: ECDSA, r and s in 64 bytes, in base64url. */
  sign(text: string): string;
  /** Issues a certificate for a hand id; BAD_REQUEST when the CSR is malformed or not signed by its own key. */
  forHand(hand: string, csr: string): Promise<IssuedCertificate>;
}

/** Folder and clock of an authority. */
interface AuthorityOptions {
  /** Created when missing, with mode 0700. */
  readonly folder: string;
  readonly now: () => number;
}

type X509 = typeof X509Module;

const KEY = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const KEPT = "authority.pem";
const LISTENER = "listener.pem";
const LISTENER_NAME = "Vidro southbound";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
/** The only extended key usage of a hand's certificate. */
export const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const SERIAL_BYTES = 16;

/** The URI that names a hand in its certificate. */
function handUri(brain: string, hand: string): string {
  return `spiffe://${brain}/hand/${hand}`;
}

/** Opens the authority of a home, creating it when missing; STORE_UNREADABLE when its file cannot be used. */
export async function openAuthority({ folder, now }: AuthorityOptions): Promise<Authority> {
  const path = join(folder, KEPT);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const kept = (await read(path)) ?? (await createAuthority(path, now()));
    return new KeptAuthority(kept, { folder, now });
  } catch (cause) {
    throw new Fault("STORE_UNREADABLE", `The authority in ${path} cannot be used: ${asFault(cause).message}`, {
      cause,
    });
  }
}

/** Whether a folder holds an authority; only then can a host have been invited. */
export async function hasAuthority(folder: string): Promise<boolean> {
  return (await read(join(folder, KEPT))) !== undefined;
}

/** Loaded when a certificate is signed: a brain whose hands only reconnect does not need it. */
async function loadX509(): Promise<X509> {
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined;
    throw thrown;
  });
}

/** Key and certificate are one file, written atomically; of two writers the first wins. */
async function createAuthority(path: string, now: number): Promise<string> {
  const x509 = await loadX509();
  const keys = await newKeys();
  const brain = randomUUID();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...span(now, SOUTHBOUND_LIMITS.authorityMs),
    serialNumber: newSerial(),
    name: `CN=Vidro ${brain}`,
    signingAlgorithm: KEY,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.SubjectAlternativeNameExtension([{ type: "url", value: `spiffe://${brain}` }]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const fresh = await writeFresh(path, (await pemOf(keys.privateKey)) + certificate.toString("pem"));
  await link(fresh, path).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "EEXIST") throw thrown;
  });
  await rm(fresh);
  return readFile(path, "utf8");
}

/** Writes a private file beside its final path and flushes it to disk. */
async function writeFresh(path: string, text: string): Promise<string> {
  const fresh = `${path}.${randomUUID()}.new`;
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  return fresh;
}

class KeptAuthority implements Authority {
  readonly brain: string;
  readonly certificate: string;
  readonly fingerprint: string;
  readonly #options: AuthorityOptions;
  readonly #own: X509Certificate;
  readonly #key: KeyObject;
  #signing: Promise<{ readonly x509: X509; readonly signingKey: CryptoKey }> | undefined;

  constructor(pem: string, options: AuthorityOptions) {
    this.#own = new X509Certificate(pem);
    this.#key = createPrivateKey(pem);
    this.#options = options;
    const brain = /^URI:spiffe:\/\/([\w-]+)$/.exec(this.#own.subjectAltName ?? "")?.[1];
    if (brain === undefined) throw new Error("its certificate names no brain");
    this.brain = brain;
    this.certificate = this.#own.toString();
    this.fingerprint = createHash("sha256").update(this.#own.raw).digest("base64url");
  }

  async forListener(names: readonly string[]): Promise<Credentials> {
    const path = join(this.#options.folder, LISTENER);
    const kept = await read(path).catch(() => undefined);
    if (kept !== undefined && this.#fits(kept, names)) return credentialsIn(kept);
    const { publicKey, privateKey } = await newKeys();
    const reached = names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }) as const);
    const lifeMs = SOUTHBOUND_LIMITS.serverMs;
    const certificate = await this.#issue({ name: LISTENER_NAME, publicKey, usage: SERVER_AUTH, lifeMs, reached });
    const pem = (await pemOf(privateKey)) + certificate.toString() + this.certificate;
    await rename(await writeFresh(path, pem), path);
    return credentialsIn(pem);
  }

  async forHand(hand: string, csr: string): Promise<IssuedCertificate> {
    const { x509 } = await this.#signer();
    const publicKey = await requestedKey(x509, csr);
    const reached = [{ type: "url", value: handUri(this.brain, hand) }] as const;
    const lifeMs = SOUTHBOUND_LIMITS.certificateMs;
    const certificate = await this.#issue({ name: hand, publicKey, usage: CLIENT_AUTH, lifeMs, reached });
    const { serialNumber: serial, validToDate } = certificate;
    return { certificate: certificate.toString(), serial, expiresAt: validToDate.getTime() };
  }

  sign(text: string): string {
    return sign("sha256", Buffer.from(text), { key: this.#key, dsaEncoding: "ieee-p1363" }).toString("base64url");
  }

  /** Whether a stored certificate is signed by this authority, not about to expire, and for exactly these names. */
  #fits(pem: string, names: readonly string[]): boolean {
    try {
      const certificate = new X509Certificate(pem);
      const remainsMs = certificate.validToDate.getTime() - this.#options.now();
      const nameCount = (certificate.subjectAltName ?? "").split(", ").length;
      const isFor = (name: string): boolean =>
        (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
      const isOurs = certificate.verify(this.#own.publicKey);
      return isOurs && remainsMs > SOUTHBOUND_LIMITS.serverRenewMs && nameCount === names.length && names.every(isFor);
    } catch {
      return false;
    }
  }

  #signer() {
    this.#signing ??= (async () => {
      const der = this.#key.export({ type: "pkcs8", format: "der" });
      const signingKey = await webcrypto.subtle.importKey("pkcs8", der, KEY, false, ["sign"]);
      return { x509: await loadX509(), signingKey };
    })();
    return this.#signing;
  }

  async #issue({ name, publicKey, usage, lifeMs, reached }: CertificateContents): Promise<X509Certificate> {
    const { x509, signingKey } = await this.#signer();
    const issuer = new x509.X509Certificate(this.#own.raw);
    const certificate = await x509.X509CertificateGenerator.create({
      ...span(this.#options.now(), lifeMs),
      serialNumber: newSerial(),
      subject: `CN=${name}`,
      issuer: issuer.subject,
      signingAlgorithm: KEY,
      publicKey,
      signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage], true),
        new x509.SubjectAlternativeNameExtension([...reached]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ],
    });
    return new X509Certificate(Buffer.from(certificate.rawData));
  }
}

/** Contents of a certificate to issue. */
interface CertificateContents {
  readonly name: string;
  readonly publicKey: CryptoKey;
  readonly usage: string;
  readonly lifeMs: number;
  readonly reached: readonly { readonly type: "dns" | "ip" | "url"; readonly value: string }[];
}

/** The public key of a CSR that is signed by this key; every other field of the CSR is ignored. */
async function requestedKey(x509: X509, csr: string): Promise<CryptoKey> {
  const fits = "Send one in PEM, of a P-256 key and signed by it.";
  try {
    const request = new x509.Pkcs10CertificateRequest(csr);
    const key = await request.publicKey.export(KEY, ["verify"]);
    if (await request.verify()) return key;
  } catch (cause) {
    throw new Fault("BAD_REQUEST", `The certificate request cannot be read. ${fits}`, { cause });
  }
  throw new Fault("BAD_REQUEST", `The certificate request is not signed by its own key. ${fits}`);
}

function span(now: number, lifeMs: number): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - SOUTHBOUND_LIMITS.backdateMs), notAfter: new Date(now + lifeMs) };
}

/** A random positive serial number. */
function newSerial(): string {
  const bytes = Buffer.from(webcrypto.getRandomValues(new Uint8Array(SERIAL_BYTES)));
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes.toString("hex");
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY, true, ["sign", "verify"]);
}

function credentialsIn(pem: string): Credentials {
  const at = pem.indexOf("-----BEGIN CERTIFICATE-----");
  return { key: pem.slice(0, at), cert: pem.slice(at) };
}

async function pemOf(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  const own = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return own.export({ type: "pkcs8", format: "pem" });
}
