import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Makes a key and a certificate that an address of this machine may show, as files in a folder. */
export function makeCertificate(folder: string, address: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
  const subject = ["-subj", "/CN=vidro", "-addext", `subjectAltName=IP:${address}`];
  execFileSync("openssl", ["req", "-x509", ...fresh, "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  return { cert, key };
}
