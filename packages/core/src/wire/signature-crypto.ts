import { SIGNED_HTTP_LIMITS } from "../limits.ts";
import type { SignatureCrypto } from "./signature.ts";

/** The functions of node:crypto that signatures need; core itself imports nothing. */
export interface CryptoFunctions {
  createHmac(algorithm: string, key: Uint8Array): Hasher;
  createHash(algorithm: string): Hasher;
  hkdfSync(...input: [digest: string, root: Uint8Array, salt: Uint8Array, info: string, bytes: number]): ArrayBuffer;
  timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean;
}

interface Hasher {
  update(data: string | Uint8Array): { digest(encoding: "base64"): string };
}

/** The cryptography of signed messages, the same at both ends of the wire. */
export function makeSignatureCrypto(node: CryptoFunctions): SignatureCrypto {
  const encoder = new TextEncoder();
  return {
    mac: (key, text) => node.createHmac("sha256", key).update(text).digest("base64"),
    digest: (bytes) => node.createHash("sha256").update(bytes).digest("base64"),
    derive: (root, salt, info) =>
      new Uint8Array(node.hkdfSync("sha256", root, salt, info, SIGNED_HTTP_LIMITS.keyBytes)),
    same(one, other) {
      const [left, right] = [encoder.encode(one), encoder.encode(other)];
      return left.length === right.length && node.timingSafeEqual(left, right);
    },
  };
}
