import * as crypto from "node:crypto";
import { makeSignatureCrypto } from "@vidro/core/wire/signature-crypto";

/** The cryptography of signed messages at the hand's end. */
export const nodeSignatureCrypto = makeSignatureCrypto(crypto);
