/*
 * What commands print, what programs are made of, and what people write in English, Portuguese and Spanish. One line
 * is one case; nothing in it is a secret, though many lines speak of them.
 */
const LINES = String.raw`
Filesystem      Size  Used Avail Use% Mounted on
/dev/vda1        59G   15G   42G  26% /
root           1  0.0  0.1 168012 11520 ?        Ss   Jan01   0:09 /sbin/init
www-data    1207  0.1  0.5  55884 22016 ?        S    10:02   0:00 nginx: worker process
drwxr-xr-x 12 ana  ana   4096 Nov 16 06:54 node_modules
-rw-r--r--  1 root root  1843 Jan  1  2026 /etc/passwd
lrwxrwxrwx  1 root root     7 Jan  1  2026 bin -> usr/bin
commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b
Author: Ana <ana@example.org>
    auth: read the token from the keyring, not from the password prompt
index 83db48f..bf269f4 100644
--- a/src/password.ts
+++ b/src/password.ts
@@ -12,7 +12,9 @@ export function readPassword(prompt: string): Promise<string> {
-  const token = await readToken();
+  const token = await readToken({ timeout: 5000 });
diff --git a/tokens/list.ts b/tokens/list.ts
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt
da39a3ee5e6b4b0d3255bfef95601890afd80709
018f6a2e-7c1b-7d3a-9b52-0c9d2f4f1a11
request_id=018f6a2e-7c1b-7d3a-9b52-0c9d2f4f1a11 status=200 bytes=5120
integrity sha512-3k1q8Zp0m5vX2n7Yw4cR6tB9sD1fG3hJ5kL7zQ0xV2bN4mA6pS8dF1gH3jK5lW7eR9tY0uI2oP4aS6dF8gH0jK==
"integrity": "sha512-LgVTMpQtIopCi79SJeDiP0TfWi5CNEc/L/aRdTh3yIvmZXTnheWpKjSZhnvMl8iXbC1tFg9gdHHDMLoV7CnG+w==",
"resolved": "https://registry.example.org/ansi-regex/-/ansi-regex-5.0.1.tgz",
├── @types/node@26.6.6
added 214 packages, and audited 215 packages in 3s
numpy==2.1.3 --hash=sha256:aa08e04e08aaf974d4458def539dece0d28146d866a39da5639596f4921fd761
requests             2.32.3      /usr/lib/python3/dist-packages
ii  openssl  3.0.15-1~deb12u1  amd64  Secure Sockets Layer toolkit
CONTAINER ID   IMAGE          COMMAND                  CREATED       STATUS       PORTS                    NAMES
4f5e6a7b8c9d   postgres:16    "docker-entrypoint.s…"   2 hours ago   Up 2 hours   0.0.0.0:5432->5432/tcp   db
docker run -u 1000:1000 -p 8080:80 -v /srv:/srv nginx:1.27
docker run -u node -p 127.0.0.1:3000:3000 app
kubectl get secret db-credentials -o yaml
secret/db-credentials created
NAME             TYPE     DATA   AGE
default-token    kubernetes.io/service-account-token   3      12d
2026-11-16T06:54:41.123Z INFO  server listening on http://127.0.0.1:7777
2026-11-16T06:54:42.004Z WARN  token expired, asking for a new one
2026-11-16T06:54:42.011Z ERROR invalid password for user ana (attempt 3)
Nov 16 06:54:41 host sshd[1207]: Failed password for root from 203.0.113.7 port 53122 ssh2
Nov 16 06:54:41 host sshd[1207]: Accepted publickey for ana from 203.0.113.7 port 53122 ssh2: ED25519 SHA256:LgVTMpQtIopCi79SJeDiP0TfWi5CNEcLaRdTh3yIvm
Nov 16 06:54:41 host sudo: ana : TTY=pts/0 ; PWD=/home/ana ; USER=root ; COMMAND=/usr/bin/id
127.0.0.1 - - [16/Nov/2026:06:54:41 +0000] "GET /login?next=/tokens HTTP/1.1" 200 5120 "-" "curl/8.5.0"
10.0.0.7:5432 accepted, 10.0.0.8:6379 refused, [::1]:9000 timed out
http://localhost:3000/a@b http://127.0.0.1:8080/ ws://[::1]:9000/x https://example.org:8443/path?x=1#top
git@github.com:example/project.git (push)
https://hooks.slack.com/services/
See https://api.slack.com/messaging/webhooks for webhooks.
Enter passphrase for key '/home/ana/.ssh/id_ed25519':
Password:
Password for ana@example.org:
[sudo] password for ana:
password: required
password: must have at least 12 characters
password: string;
password: z.string().min(8),
password: the same as before
password: null
password: ********
password: <your password>
password: !vault |
  password: { type: string, minLength: 8 }
  password: user.password,
  password: hashPassword(input),
"password": "string",
"password": "Password",
"password": "Enter your password",
"password": "Senha",
"password": "is too short",
"token": "string", "secret": "${"${SECRET}"}"
errors: { password: "must not be empty", token: "is required" }
Your password is wrong. Token: required. The secret of good bread: patience.
Forgot your password? Click here to reset it.
The password is stored as an Argon2id hash; the token is shown once.
the password is required
A password is 12 characters or more.
Bearer authentication-scheme-names are case-insensitive.
Authorization: Bearer <token>
Authorization header is missing
WWW-Authenticate: Basic realm="app"
Set-Cookie is sent once per cookie.
This site uses cookies: read our cookie policy.
cookie: the one that is set by the server
cookies = parseCookies(request.headers.cookie)
const cookie = serialize(name, value, { httpOnly: true });
const token = await readToken(); api_key=api_key, password=password, token=settings.token
apiKey: process.env.API_KEY, token: string; secret = hashlib.sha256(x)
password = os.environ["DB_PASSWORD"]
password = getpass.getpass()
if (password !== confirmation) throw new Error("passwords differ");
const secretKey = deriveKey(password, salt);
func (c *Client) SetToken(token string) error {
token, err := jwt.Parse(raw, keyFunc)
def login(user: str, password: str) -> Token:
self.password = password
private readonly apiKey: string,
export interface TokenRow extends Omit<NewToken, "token"> {
public_key: ssh-ed25519
keyboard: qwertz12345 tokenizer: bpe-50257-v2 secretary=9876543210
max_tokens=4096 inputTokens: 123456789 token_count=1234567
tokens: 12345678, tokens per second: 45.2
# tests 143
# pass 143
pass=143 fail=0 skipped=2
ok 12 - a token is refused when it is revoked
✔ a password that is wrong is refused (12.3ms)
PASS src/password.test.ts
PWD=/home/ana/projects/vidro OLDPWD=/home/ana PATH=/usr/local/sbin:/usr/local/bin
PASSWORD=${"${DB_PASSWORD}"} TOKEN=$(cat file)
--password to give a password, --token for a token
      --password string   Password of the user
      --password-file FILE  read the password from FILE
      --token TOKEN       the token to use
usage: mytool [--password PASSWORD] [--token-file FILE] [--api-key KEY]
mytool --password-stdin < file
curl -u user https://example.org
git push -u origin main
chown -R www-data:www-data /srv
rsync -avz --password-file=/etc/rsync.pass src/ host::module
sort -u names.txt | uniq -c
machine learning, login form, password reset
the login page asks for a password twice
Look for -----BEGIN RSA PRIVATE KEY----- in the files, and for keys such as sk-... or ghp_...
Keys begin with AKIA, ghp_, glpat-, xoxb- or sk_live_.
risk-assessment-of-the-new-scheduler: task-runner-with-long-name
task-runner desk-lamp disk-usage mask-pattern-of-the-network-interface
ask-for-help-before-you-delete-anything-important
The signature is checked: sig=ok
?sig=short&x=1
version s.createServerSideRendererFor
v1.0-beta, v1.0-rc2
key-value store, key-bindings
const SKILLS = ["reading", "writing"];
EAAA, EAAB and EAAC are names of rooms
base64: aGVsbG8gd29ybGQsIHRoaXMgaXMgbm90IGEgc2VjcmV0
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|
0x7fff5fbff8c0 <main+16>: mov rax, rdi
MAC 52:54:00:12:34:56 inet6 fe80::5054:ff:fe12:3456/64
id,name,price,when
17,widget,12.50,2026-11-16
| name | token | price |
|---|---|---|
SELECT id, password_hash FROM users WHERE email = $1;
UPDATE users SET password = $1 WHERE id = $2;
ALTER TABLE users ADD COLUMN password text NOT NULL;
<input type="password" name="password" placeholder="Password" />
<label for="token">Token</label>
<password></password>
.password { color: red; }
s|password|senha|g
O token expirou; peça outro com o comando tokens create.
A senha está errada. Tente outra vez, ou peça uma nova.
senha: obrigatória
a senha é obrigatória e deve ter 12 caracteres
Digite a senha:
A chave da porta está com o porteiro, e o segredo do pão: paciência.
chave: valor
La contraseña es incorrecta; inténtelo de nuevo.
contraseña: debe tener al menos 12 caracteres
Introduzca la contraseña:
la clave del éxito: paciencia y trabajo
clave: valor, tipo: texto
El secreto de la abuela es la paciencia.
enclave=ceuta123456 autoclave: 121C15min
credentials: same-origin
fetch(url, { credentials: "include" })
git config credential.helper store
access key is missing; see the docs
api key: see your dashboard
AccessKeyMetadata: []
encryption: none, authentication: token
secretName: db-credentials
secretRef: { name: db, key: password }
valueFrom: { secretKeyRef: { name: db, key: password } }
tokenizer.ts:12:7 - error TS2304: Cannot find name 'token'.
src/token.ts(12,7): error TS2304
at Token.verify (/srv/app/src/token.ts:12:7)
app.3f2a9c81d4e5b607.js 12.3 kB
main.9f86d081884c7d659a2feaa0c55ad015.chunk.js
com.example.tokens.TokenServiceImplementationFactory2
${"$"}2 ${"$"}1 ${"$"}HOME costs ${"$"}5 or ${"$"}6
echo ${"$"}PATH; awk '{ print ${"$"}6 ${"$"}7 }'
passwd: files systemd
passwd:         files systemd
shadow:         files sss
return e.tokenValue = e.source.slice(e.tokenIndex, e.index);
token, value = get_invalid_mailbox(value, ',')
onnewtoken: OnNewTokenCallback | undefined;
endOfFileToken: EndOfFile
password: URLPatternComponentResult;
# METHOD can be "trust", "reject", "md5", "password", "scram-sha-256",
SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==
[('Credentials', 'gs_oauth2_refresh_token', 'foo'),
"result_key": "Ipv6CidrAssociations"
cache_key: node-modules-Linux-9f86d081884c7d65
idempotency_key: 018f6a2e-7c1b-7d3a-9b52-0c9d2f4f1a11
primary_key = user_id_2
public_key: AAAAC3NzaC1lZDI1NTE5AAAAIJ7dB3nQ0pK5mV8xYz1aB2cD3eF4gH5iJ6kL7mN8oP9
token_type: bearer
"token_type":"Bearer","expires_in":3600
bearer of bad news
basic: yes
https://example.com/path?key=name&sort=asc
https://user@example.com/x
ssh://git@host:22/x.git
fingerprint: SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDgRw2yY3dLwz4xJ9g
kubectl create secret generic db --from-literal=name=value
- name: DB_PASSWORD
  valueFrom: { secretKeyRef: { name: db, key: password } }
password: ${"$"}{DB_PASSWORD}
token: ${"$"}{{ secrets.GITHUB_TOKEN }}
la clave: constancia
La clave: escuchar primero.
Palabra clave: sostenibilidad
clave primaria: id
A chave do sucesso: trabalho e paciência.
Palavras-chave: saúde, educação, política
El secreto: paciencia.
O segredo: não há segredo.
-----BEGIN CERTIFICATE-----
-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7dB3nQ0pK5mV8xYz1aB2cD3eF4gH5iJ6kL7mN8oP9 ana@host
grep -w word -b file.txt
echo done | tee log
curl -b cookies.txt https://example.org
sdk-tools-linux-4333796.zip
live_reload = true
re_compile_internal (preg, pattern, length, syntax);
API-compatible with version 2
test_that_a_long_name_of_a_test_case_is_kept
new XMLHttpRequest();
mysql -p shop -u root
tool --pass 12 --retries 3
the first pass takes --pass 0.5 seconds
ENV NODE_VERSION 26.10.0
ENV PASS_THROUGH yes
senha_obrigatoria: true
senha_minima: 12
config["token_count"] = "12"
token: 2026-11-16
<pass>3</pass> <fail>0</fail>
cache_key_mmk = 3
export PATH="${"$"}HOME/.cargo/bin:${"$"}PATH"
`;

/** Lines of ordinary output. */
export const ORDINARY: readonly string[] = LINES.split("\n").filter((line) => line !== "");
