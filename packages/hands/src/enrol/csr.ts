import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";

/** A new key and its certificate signing request, both in PEM. */
interface KeyAndRequest {
  readonly key: string;
  readonly csr: string;
}

/** Creates a P-256 key on this host and a certificate signing request (PKCS#10) for it. */
export function newKeyAndRequest(commonName: string): KeyAndRequest {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  return { key, csr: requestFor(key, commonName) };
}

/** A certificate signing request for a P-256 key. */
export function requestFor(key: string, commonName: string): string {
  const spki = createPublicKey(createPrivateKey(key)).export({ type: "spki", format: "der" });
  const name = sequence(set(sequence(COMMON_NAME, der(TAG.utf8, Buffer.from(commonName)))));
  const info = sequence(der(TAG.integer, Buffer.of(0)), name, spki, der(TAG.attributes, Buffer.alloc(0)));
  const signature = sign("sha256", info, key);
  // A bit string begins with the number of unused bits in its last byte.
  const bits = der(TAG.bits, Buffer.concat([Buffer.of(0), signature]));
  const request = sequence(info, sequence(ECDSA_WITH_SHA256), bits);
  const lines = request.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`;
}

const TAG = { integer: 0x02, bits: 0x03, utf8: 0x0c, sequence: 0x30, set: 0x31, attributes: 0xa0 } as const;
/** 2.5.4.3 */
const COMMON_NAME = Buffer.from("0603550403", "hex");
/** 1.2.840.10045.4.3.2 */
const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");
/** The longest length that DER encodes in one byte. */
const SHORT = 0x7f;
const LONG = 0x80;

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(TAG.sequence, Buffer.concat(parts));
}

function set(...parts: readonly Buffer[]): Buffer {
  return der(TAG.set, Buffer.concat(parts));
}

/** One value in DER: its tag, its length, itself. */
function der(tag: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(value.length), value]);
}

function lengthOf(length: number): Buffer {
  if (length <= SHORT) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(LONG + bytes.length, ...bytes);
}
