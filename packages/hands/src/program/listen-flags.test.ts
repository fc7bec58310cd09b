import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "../scratch.fixture.ts";
import { readListenFlags } from "./listen-flags.ts";

test("without --listen the host does not listen", async () => {
  assert.equal(await readListenFlags({ listenCert: "c", listenKey: "k" }), undefined);
});

test("a plain address is that of the host itself, with the port that its scheme has", async () => {
  assert.deepEqual(await readListenFlags({ listen: "http://127.0.0.1:8080" }), {
    host: "127.0.0.1",
    port: 8080,
    url: "http://127.0.0.1:8080",
  });
  assert.deepEqual(await readListenFlags({ listen: "http://[::1]/" }), { host: "::1", port: 80, url: "http://[::1]" });
});

test("with TLS it listens on all addresses, with the certificate and key of its files", async (t) => {
  const folder = scratch(t);
  const [listenCert, listenKey] = [join(folder, "cert"), join(folder, "key")];
  writeFileSync(listenCert, "CERT");
  writeFileSync(listenKey, "KEY");
  const tls = { cert: "CERT", key: "KEY" };
  assert.deepEqual(await readListenFlags({ listen: "https://web-1.lan", listenCert, listenKey }), {
    host: "::",
    port: 443,
    url: "https://web-1.lan",
    tls,
  });
  assert.deepEqual(await readListenFlags({ listen: "https://WEB-1.lan:8443/", listenCert, listenKey }), {
    host: "::",
    port: 8443,
    url: "https://web-1.lan:8443",
    tls,
  });
  for (const flags of [{}, { listenCert }, { listenKey }])
    await assert.rejects(readListenFlags({ listen: "https://a", ...flags }), {
      code: "BAD_REQUEST",
      message: /--listen-cert/,
    });
  const missing = join(folder, "missing");
  await assert.rejects(readListenFlags({ listen: "https://a", listenCert: missing, listenKey }), {
    code: "BAD_REQUEST",
    message: /missing/,
  });
});

test("what is no address to listen at is refused", async () => {
  for (const listen of ["", "web-1:8443", "ftp://a", "https://a/path", "http://a:99999", "//a"])
    await assert.rejects(readListenFlags({ listen }), { code: "BAD_REQUEST" }, listen);
});
