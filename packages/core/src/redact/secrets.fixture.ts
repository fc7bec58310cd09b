/*
 * Made-up secrets of every shape, put together from parts so that no scanner of this repository takes them for real.
 */

const LETTERS = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z";

/** One made-up secret of each shape, and the text in which it is shown; `kept` is what may stay. */
export const SHAPED: readonly { readonly text: string; readonly secret: string; readonly kept: string }[] = [
  ...["sk-", "sk-ant-api03-", "sk-proj-", "ghp_", "gho_", "github_pat_", "glpat-", "hf_", "npm_", "sk_live_"].map(
    (prefix) => bare(`${prefix}${LETTERS}${LETTERS}`),
  ),
  bare(`xoxb-123456789012-${LETTERS}`),
  bare(["AKIA", "ABCDEFGH23456789"].join("")),
  bare(`AIza${LETTERS}${LETTERS.slice(0, 7)}`),
  bare(jwt(40)),
  bare(jwt(4000)),
  bare(pem("RSA PRIVATE KEY", 20)),
  bare(pem("PRIVATE KEY", 40)),
  bare(pem("OPENSSH PRIVATE KEY", 3).replaceAll("\n", "\\n")),
  bare(pem("PGP PRIVATE KEY BLOCK", 5).replace("\n", "\nVersion: 1\n\n")),
  held("Authorization: Bearer ", LETTERS, ""),
  held("authorization: bearer ", `${LETTERS}.${LETTERS}==`, "\r\n"),
  held("-H 'Authorization: Basic ", "dXNlcjpwYXNzd29yZA==", "'"),
  held("postgres://admin:", "pa$$w0rd!", "@db.example:5432/app"),
  held("redis://:", "hunter2", "@cache:6379"),
  held("DB_PASSWORD=", "hunter2hunter2", "\n"),
  held("export AWS_SECRET_ACCESS_KEY=", `${LETTERS}/+x`, "\n"),
  held("mysql --password=", "swordfish-", " -u root"),
  held("https://example.org/?access_token=", "0123456789abcdef", "&page=2"),
  held('{"password": "', "hunter2", '", "user": "ana"}'),
  held('{\\"api_key\\":\\"', "k3y-k3y-k3y", '\\"}'),
  held("client_secret: '", "correcthorsebattery", "'"),
  held("X-Api-Key: ", "a1b2c3d4e5", "\n"),
  held('const token = "', "t0ken-t0ken", '";'),
];

function bare(secret: string): { text: string; secret: string; kept: string } {
  return held("before ", secret, " after");
}

function held(before: string, secret: string, after: string): { text: string; secret: string; kept: string } {
  return { text: before + secret + after, secret, kept: `${before}[redacted]${after}` };
}

function jwt(chars: number): string {
  const part = btoa(JSON.stringify({ alg: "none", typ: "JWT", kid: "k".repeat(chars) })).replaceAll("=", "");
  return `${part}.${part}.${LETTERS}`;
}

function pem(kind: string, lines: number): string {
  const body = `${LETTERS}${LETTERS}12345678\n`.repeat(lines);
  return `-----BEGIN ${kind}-----\n${body}-----END ${kind}-----`;
}

/** What ordinary commands print and people write: nothing in it is a secret. */
export const INNOCENT: readonly string[] = [
  `Filesystem      Size  Used Avail Use% Mounted on
/dev/vda1        59G   15G   42G  26% /
tmpfs           797M  1.1M  796M   1% /run
//nas:8080/x     10G    1G    9G  10% /mnt/nas`,
  `USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.1 168012 11520 ?        Ss   Jan01   0:09 /sbin/init
www-data    1207  0.1  0.5  55884 22016 ?        S    10:02   0:00 nginx: worker process
ana         2210  1.2  3.1 998012 64000 pts/0    Sl+  10:03   0:12 node --conditions=vidro-source main.ts`,
  `commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b
Author: Ana <ana@example.org>
Date:   Thu Jan 1 00:00:00 2026 +0000

    auth: read the token from the keyring, not from the password prompt

    Refs: 018f6a2e-7c1b-7d3a-9b52-0c9d2f4f1a11, sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`,
  "9f86d08 (HEAD -> main, origin/main) risk-assessment-of-the-new-scheduler: task-runner-with-long-name",
  "origin  https://github.com/example/project.git (fetch)\norigin  git@github.com:example/project.git (push)",
  "Your password is wrong. Token: required. The secret of good bread: patience. Bearer authentication-scheme-names.",
  "Look for -----BEGIN RSA PRIVATE KEY----- in the files, and for keys such as sk-... or ghp_...; tokens: 12345678",
  "const token = await readToken(); api_key=api_key, password=password, token=settings.token, secret = hashlib.sha256(x)",
  'apiKey: process.env.API_KEY, token: string; password: z.string().min(8), "token": "string", secret: "${SECRET}"',
  'PASSWORD=${DB_PASSWORD} TOKEN=$(cat file) password: "<your-password-here>" max_tokens=4096 inputTokens: 123456789',
  "PWD=/home/ana/projects/vidro OLDPWD=/home/ana PATH=/usr/local/sbin:/usr/local/bin HOME=/home/ana",
  "http://localhost:3000/a@b http://127.0.0.1:8080/ ws://[::1]:9000/x urn:uuid:018f6a2e-7c1b-7d3a-9b52-0c9d2f4f1a11",
  "token_count=1234567 secretary=9876543210 keyboard: qwertz12345 tokenizer: bpe-50257-v2",
];
