/** DER that stands before the 32 bytes of an Ed25519 seed in a PKCS#8 private key (RFC 8410), in hexadecimal digits. */
export const ED25519_PKCS8_PREFIX = "302e020100300506032b657004220420";
