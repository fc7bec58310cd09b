import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { SignatureCrypto } from "@vidro/core/wire/signature";

/** The cryptography of signed messages, by Node. */
export const signatureCrypto: SignatureCrypto = {
  mac: (key, text) => createHmac("sha256", key).update(text).digest("base64"),
  digest: (bytes) => createHash("sha256").update(bytes).digest("base64"),
  derive: (root, salt, info) => new Uint8Array(hkdfSync("sha256", root, salt, info, SIGNED_HTTP_LIMITS.keyBytes)),
  same(one, other) {
    const [left, right] = [Buffer.from(one), Buffer.from(other)];
    return left.length === right.length && timingSafeEqual(left, right);
  },
};
