import { SECRET_PLACES, SERVICE_KEYS } from "./formats.fixture.ts";

/*
 * A corpus of made-up secrets in the forms that public lists of rules name, put together from parts so that no scanner
 * of this repository takes them for real, and a corpus of ordinary output in which nothing is a secret.
 */

const MIXED = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zC0fR";
const LONG = `${MIXED}${MIXED.toLowerCase()}${MIXED}`;
const HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const UPPER = "AB3DE5GH7JK9MN2P";
const OWN_ID = "0123456789abcdef0123456789abcdef";
const OWN_SECRET = "hV7xQ-2_pLm9RtYw0sKdJf3GzB5nCq8EaUoIiT1Xv4M";

/** A secret, and the text in which it is shown. */
export interface Planted {
  readonly name: string;
  readonly text: string;
  readonly secret: string;
}

/** Keys and tokens that may stand anywhere. */
const KEYS: Readonly<Record<string, string>> = {
  "Stripe live key": ["sk", "live", MIXED].join("_"),
  "Stripe webhook": `whsec_${MIXED}`,
  "Twilio key": `SK${HEX.slice(0, 32)}`,
  SendGrid: `SG.${MIXED.slice(0, 22)}.${LONG.slice(0, 43)}`,
  Mailgun: `key-${HEX.slice(0, 32)}`,
  "Slack bot": ["xoxb", "123456789012", MIXED].join("-"),
  "Slack app": `xapp-1-A0123-${MIXED}`,
  "GitHub classic": `ghp_${LONG.slice(0, 36)}`,
  "GitHub app": `ghs_${LONG.slice(0, 36)}`,
  "GitHub fine-grained": `github_pat_${LONG.slice(0, 60)}`,
  "GitLab personal": `glpat-${MIXED.slice(0, 20)}`,
  "GitLab runner": `glrt-${MIXED.slice(0, 20)}`,
  "AWS access key": `AKIA${UPPER}`,
  "AWS session key": `ASIA${UPPER}`,
  "Google API key": `AIza${LONG.slice(0, 35)}`,
  "Google client secret": `GOCSPX-${MIXED.slice(0, 28)}`,
  "Google access token": `ya29.${LONG}`,
  npm: `npm_${LONG.slice(0, 36)}`,
  PyPI: `pypi-AgEIcHlwaS5vcmc${LONG}`,
  RubyGems: `rubygems_${HEX.slice(0, 48)}`,
  "Hugging Face": `hf_${LONG.slice(0, 34)}`,
  OpenAI: `sk-proj-${LONG}`,
  Anthropic: `sk-ant-api03-${LONG}`,
  Vault: `hvs.${LONG.slice(0, 90)}`,
  "Vault, before 1.10": `s.${MIXED.slice(0, 24)}`,
  DigitalOcean: `dop_v1_${HEX}`,
  Databricks: `dapi${HEX.slice(0, 32)}`,
  Shopify: `shpat_${HEX.slice(0, 32)}`,
  Grafana: `glsa_${MIXED}_${HEX.slice(0, 8)}`,
  Doppler: `dp.pt.${LONG.slice(0, 43)}`,
  Linear: `lin_api_${LONG.slice(0, 40)}`,
  Notion: `ntn_${LONG.slice(0, 46)}`,
  Airtable: `pat${MIXED.slice(0, 14)}.${HEX}`,
  Postman: `PMAK-${HEX.slice(0, 24)}-${HEX.slice(0, 34)}`,
  Pulumi: `pul-${HEX.slice(0, 40)}`,
  PlanetScale: `pscale_tkn_${LONG.slice(0, 43)}`,
  "New Relic": `NRAK-${MIXED.slice(0, 27).toUpperCase()}`,
  Docker: `dckr_pat_${MIXED.slice(0, 27)}`,
  Atlassian: `ATATT3${LONG}${LONG}`,
  Square: `sq0atp-${MIXED.slice(0, 22)}`,
  age: `AGE-SECRET-KEY-1${"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2).slice(0, 58)}`,
  OpenShift: `sha256~${LONG.slice(0, 43)}`,
  Tailscale: `tskey-auth-${MIXED}`,
  Supabase: `sbp_${HEX.slice(0, 40)}`,
  Groq: `gsk_${LONG.slice(0, 52)}`,
  Sentry: `sntryu_${HEX}`,
  SonarQube: `squ_${HEX.slice(0, 40)}`,
  "JSON web token": ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", LONG.slice(0, 43)].join("."),
  "private key": pem("RSA PRIVATE KEY", "\n", 4),
  "shadow line": `$6$${MIXED.slice(0, 16)}$${LONG.slice(0, 86)}`,
};

/** Secrets that what stands around them gives away: what is before, the secret, what is behind. */
const PLACES: Readonly<Record<string, readonly [before: string, secret: string, after?: string]>> = {
  "Slack webhook": ["https://hooks.slack.com/services/", `T01ABCDEF/B01ABCDEF/${MIXED.slice(0, 24)}`],
  "Discord webhook": ["https://discord.com/api/webhooks/", `123456789012345678/${LONG.slice(0, 68)}`],
  "Teams webhook": [
    "https://example.webhook.office.com/webhookb2/",
    `${HEX.slice(0, 36)}@${HEX.slice(0, 36)}/IncomingWebhook/${HEX}`,
  ],
  "Telegram bot": ["https://api.telegram.org/bot123456789:", `AA${MIXED}x`, "/sendMessage"],
  "Azure SAS": [
    "https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2030&sp=r&sig=",
    `${MIXED}%2B${MIXED.slice(0, 8)}%3D`,
    " end",
  ],
  "Azure storage": ["AccountName=x;AccountKey=", `${LONG.slice(0, 86)}==`, ";EndpointSuffix=core.windows.net"],
  "Azure client secret": ["client abc", `8Q~${LONG.slice(0, 34)}`],
  "AWS secret key": ["aws_secret_access_key = ", `${LONG.slice(0, 38)}/+`],
  "AWS signed address": ["https://b.s3.amazonaws.com/k?X-Amz-Date=20260101&X-Amz-Signature=", HEX],
  "Terraform cloud": ["token abcdefghijklmn.atlasv1.", LONG.slice(0, 60)],
  netrc: ["machine api.example.org login ana password ", "correcthorse"],
  "netrc in lines": ["machine api.example.org\n  login ana\n  password ", "batterystaple"],
  pgpass: ["db.example.org:5432:app:ana:", "pgPassW0rd!"],
  "PostgreSQL address": ["postgres://ana:", "p4ss/w@rd", "@db.example.org:5432/app"],
  "MongoDB address": ["mongodb+srv://ana:", "Sw0rdfish", "@cluster0.example.net/test"],
  "Redis address": ["redis://:", "hunter22", "@cache:6379/0"],
  "MySQL address of Go": ["ana:", "sw0rdfish", "@tcp(127.0.0.1:3306)/app"],
  "JDBC address": ["jdbc:mysql://db/app?user=ana&password=", "sw0rdfish", "&useSSL=false"],
  "ADO.NET string": ["Server=db;Database=app;User Id=ana;Pwd=", "Sw0rdfish!", ";"],
  "--password X": ["mytool login --user ana --password ", "correcthorse"],
  "--api-key X": ["mytool --api-key ", "abcdef123456", " sync"],
  "--token 'X'": ["gh auth login --token '", "abcdefabcdef", "'"],
  "curl -u": ["curl -u ana:", "sw0rdfish", " https://example.org"],
  "mysql -p": ["mysql -u root -p", "Sw0rdfish!", " app"],
  "docker login": ["docker login -u ana -p ", "sw0rdfish1", " registry.example.org"],
  sshpass: ["sshpass -p ", "sw0rdfish", " ssh ana@host"],
  "password of words": ["password: ", "correct horse battery staple", "\n"],
  "password of one word": ["  db_password: ", "swordfish", "\n"],
  "quoted words": ['{"password": "', "correct horse battery staple", '"}'],
  "password that is told": ["the password is ", "hunter2024"],
  "env file": ["SMTP_PASS=", "swordfish99", "\n"],
  "env of MySQL": ["MYSQL_PWD=", "swordfish99", " mysqldump app"],
  "YAML key": ["  api_key: ", "abc123def456", "\n"],
  XML: ["<server><password>", "swordfish", "</password></server>"],
  SQL: ["ALTER USER ana WITH PASSWORD '", "sw0rdfish", "';"],
  "SQL of MySQL": ["CREATE USER ana IDENTIFIED BY '", "sw0rdfish", "';"],
  cookie: ["Cookie: session=", "abcdef0123456789; theme=dark; sid=998877665544", "\r\n"],
  "set cookie": ["Set-Cookie: sid=", "s%3Aabcdef0123456789", "; Path=/; HttpOnly"],
  "cookie of curl": ["curl --cookie 'sid=", "abcdef0123456789", "' https://example.org"],
  "basic authorization": ["Authorization: Basic ", "YW5hOnN3b3JkZmlzaA==", "\n"],
  "bearer authorization": ["authorization: Bearer ", MIXED, "\r\n"],
  "authorization of GitHub": ["Authorization: token ", HEX.slice(0, 40), "\n"],
  "vault header": ["X-Vault-Token: ", "abcdef01-2345-6789", "\n"],
  npmrc: ["//registry.example.org/:_authToken=", HEX.slice(0, 36), "\n"],
  "npmrc, before": ["_auth=", "YW5hOnN3b3JkZmlzaA==", "\n"],
  senha: ["senha: ", "flor de laranjeira", "\n"],
  "senha=": ["DB_SENHA=", "laranjeira", "\n"],
  "a senha é": ["a senha é ", "laranja77", "."],
  contraseña: ["contraseña: ", "caballo correcto", "\n"],
  "contraseña in JSON": ['{"contraseña":"', "caballo-99", '"}'],
  contrasena: ["contrasena=", "caballo99", "\n"],
  clave: ["clave=", "caballo99x", "\n"],
  chave_api: ["chave_api: ", "abc123def456", "\n"],
  "clave de acceso": ['"clave_de_acceso": "', "abc123def456", '"'],
  segredo: ["segredo = '", "laranja-77-x", "'"],
  "palavra-passe": ["palavra-passe: ", "laranjeira antiga", "\n"],
  "service account": ['{"type":"service_account","private_key":"', pem("PRIVATE KEY", "\\n", 1), '"}'],
  "Vidro token": [`${OWN_ID}.`, OWN_SECRET],
  "Vidro invitation": [`vidro-hand join https://brain.example.org ${OWN_ID}.`, `${OWN_SECRET}.${OWN_SECRET}`],
  "Vidro token in an address": [`https://example.org/?t=${OWN_ID}%2E`, OWN_SECRET, "&x=1"],
};

/** Vidro's own tokens as programs encode them: the whole text, of which the second half is the secret's. */
const ENCODED: Readonly<Record<string, string>> = {
  "Vidro token in base64": btoa(`${OWN_ID}.${OWN_SECRET}`),
  "Vidro token in longer base64": btoa(`{"token":"${OWN_ID}.${OWN_SECRET}","more":true}`),
  "Vidro token in a basic header": btoa(`ana:${OWN_ID}.${OWN_SECRET}`),
  "Vidro token in hexadecimal": hexOf(`${OWN_ID}.${OWN_SECRET}`),
  "Vidro token in capital hexadecimal": hexOf(`${OWN_ID}.${OWN_SECRET}`).toUpperCase(),
  "Vidro token in bytes apart": hexOf(`${OWN_ID}.${OWN_SECRET}`).replaceAll(/..(?!$)/g, "$& "),
  "Vidro token in percent codes": hexOf(`${OWN_ID}.${OWN_SECRET}`).replaceAll(/../g, "%$&"),
};

const PLAIN: readonly Planted[] = [
  ...Object.entries({ ...KEYS, ...SERVICE_KEYS }).map(([name, secret]) => ({
    name,
    secret,
    text: `found ${secret} here`,
  })),
  ...Object.entries({ ...PLACES, ...SECRET_PLACES }).map(([name, [before, secret, after = " "]]) => ({
    name,
    secret,
    text: before + secret + after,
  })),
  ...Object.entries(ENCODED).map(([name, text]) => ({
    name,
    secret: text.slice(Math.ceil(text.length * 0.48), Math.floor(text.length * 0.8)),
    text: `data: ${text}\n`,
  })),
];

/** Every secret as it is, in a JSON string, and in a JSON string inside another. */
export const PLANTED: readonly Planted[] = PLAIN.flatMap((planted) => {
  const once = escapedIn(planted, "", "in JSON");
  return [planted, once, escapedIn(once, "log: ", "twice")];
});

function escapedIn({ name, text, secret }: Planted, before: string, how: string): Planted {
  const escaped = (from: string): string => JSON.stringify(from).slice(1, -1);
  return { name: `${name}, ${how}`, text: `{"line":"${escaped(before + text)}"}`, secret: escaped(secret) };
}

function pem(kind: string, lineEnd: string, lines: number): string {
  const body = `${LONG.slice(0, 64)}${lineEnd}`.repeat(lines);
  return `-----BEGIN ${kind}-----${lineEnd}${body}-----END ${kind}-----`;
}

function hexOf(text: string): string {
  return Array.from(text, (letter) => letter.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}
