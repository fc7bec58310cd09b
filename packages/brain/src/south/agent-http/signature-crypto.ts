import * as crypto from "node:crypto";
import { makeSignatureCrypto } from "@vidro/core/wire/signature-crypto";

/** The cryptography of signed messages at the brain's end. */
export const signatureCrypto = makeSignatureCrypto(crypto);
