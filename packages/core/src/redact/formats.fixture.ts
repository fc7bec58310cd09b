/*
 * Made-up secrets of the kinds that an attack with the formats of public lists of rules found: keys of more services,
 * more names, values without digits, and the forms in which programs show private keys.
 */

const MIXED = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zC0fR";
const LONG = `${MIXED}${MIXED.toLowerCase()}${MIXED}`;
const HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const UPPER = "AB3DE5GH7JK9MN2P4QRSTUVWXYZ6";
const LETTERS = "AcNoPxNUhdGQ";
const UUID = [HEX.slice(0, 8), HEX.slice(8, 12), HEX.slice(12, 16), HEX.slice(16, 20), HEX.slice(20, 32)].join("-");
const KEY_LINE = `${LONG.slice(0, 62)}+/`;

/** Keys of services that may stand anywhere. */
export const SERVICE_KEYS: Readonly<Record<string, string>> = {
  Bitbucket: `ATBB${MIXED}`,
  "Discord bot": `M${MIXED.slice(0, 23)}.${MIXED.slice(0, 6)}.${LONG.slice(0, 27)}`,
  NuGet: `oy2${LONG.slice(0, 43).toLowerCase()}`,
  "crates.io": `cio${MIXED}`,
  Clojars: ["CLOJARS", LONG.slice(0, 60).toLowerCase()].join("_"),
  Render: `rnd_${MIXED.slice(0, 28)}`,
  Netlify: `nfp_${LONG.slice(0, 36)}`,
  Tencent: `AKID${MIXED}`,
  Scaleway: `SCW${UPPER.slice(0, 17)}`,
  Infracost: `ico-${MIXED}`,
  "1Password key": `A3-${UPPER.slice(0, 6)}-${UPPER.slice(6, 12)}-AB3DE-GH7JK-MN2P4-QRST6`,
  LangSmith: `lsv2_pt_${HEX.slice(0, 32)}_${HEX.slice(0, 10)}`,
  NVIDIA: `nvapi-${LONG.slice(0, 64)}`,
  ElevenLabs: `sk_${HEX.slice(0, 48)}`,
  Pinecone: `pcsk_${LONG.slice(0, 70)}`,
  "Square access token": `EAAA${LONG.slice(0, 60)}`,
  Braintree: ["access_token", "production", LONG.slice(0, 16).toLowerCase(), HEX.slice(0, 32)].join("$"),
  "Grafana key": `eyJrIjoi${LONG.slice(0, 70)}==`,
  Figma: `figd_${LONG.slice(0, 40)}`,
  Dropbox: `sl.${LONG}${LONG.slice(0, 44)}`,
  Duffel: ["duffel", "live", LONG.slice(0, 43)].join("_"),
  Flutterwave: `FLWSECK_TEST-${HEX.slice(0, 32)}-X`,
  "Frame.io": `fio-u-${LONG.slice(0, 64)}`,
  Adafruit: `aio_${MIXED.slice(0, 28)}`,
  LaunchDarkly: `sdk-${UUID}`,
  "MongoDB Atlas": `mdb_sa_sk_${LONG.slice(0, 40)}`,
  CircleCI: ["CCIPAT", MIXED.slice(0, 22), HEX.slice(0, 40)].join("_"),
  Buildkite: `bkua_${HEX.slice(0, 40)}`,
  Artifactory: `cmVmdGtu${LONG.slice(0, 56)}`,
  Plaid: `access-sandbox-${UUID}`,
  "Yandex key": `AQVN${LONG.slice(0, 36)}`,
  "Yandex token": `t1.${LONG.slice(0, 80)}.${LONG.slice(0, 86)}`,
  Deno: `ddp_${LONG.slice(0, 36)}`,
  Resend: ["re", MIXED.slice(0, 8), MIXED.slice(0, 24)].join("_"),
  "Brevo SMTP": `xsmtpsib-${HEX}-${MIXED.slice(0, 16)}`,
  "42": `s-s4t2ud-${HEX}`,
  Octopus: `API-${UPPER.slice(0, 26)}`,
  SettleMint: `sm_pat_${MIXED.slice(0, 16)}`,
  Scalingo: `tk-us-${LONG.slice(0, 48)}`,
  Lob: `live_${HEX.slice(0, 35)}`,
  "Google refresh token": `1//0${LONG.slice(0, 60)}`,
  Asana: `1/0089317342069694:${HEX.slice(0, 32)}`,
  "Grafana Cloud": `glc_${LONG.slice(0, 40)}+${LONG}/${LONG}=`,
  Sentry: `sntrys_eyJpYXQiO${LONG.slice(0, 40)}+${LONG}=_${LONG.slice(0, 20)}/${LONG.slice(0, 22)}`,
  "Fly.io": `fo1_${LONG.slice(0, 20)}-${LONG.slice(0, 22)}`,
  "Fly.io macaroon": `fm2_${LONG.slice(0, 42)}+${LONG}`,
  "Supabase secret": `sb_secret_${MIXED.slice(0, 12)}-${MIXED.slice(0, 18)}`,
  MaxMind: `${MIXED.slice(0, 6)}_${MIXED.slice(0, 29)}_mmk`,
  Telnyx: `KEY0${LONG.slice(0, 51)}`,
  "RSA key without its first line": `MIIEpAIBAAKCAQEA${LONG.slice(0, 48)}\n${KEY_LINE}\n${KEY_LINE}`,
};

/** Names that tell of a secret, before values with and without digits. */
const NAMES =
  "chave token_acesso token_de_acceso secreto frase_secreta mot_de_passe passwort kennwort master_key SECRET_KEY_BASE " +
  "totp_seed bearer ocp-apim-subscription-key AZURE_STORAGE_KEY RAILS_MASTER_KEY DD_APP_KEY ALGOLIA_ADMIN_KEY " +
  "REDISCLI_AUTH refresh_token db_pass apiKey chave_api signing_key webhook_secret";

type Place = readonly [before: string, secret: string, after?: string];

const NAMED: readonly (readonly [string, Place])[] = NAMES.split(" ").flatMap((name) => [
  [`${name}=`, [`${name}=`, MIXED.slice(0, 14), "\n"]],
  [`${name}:`, [`${name}: `, MIXED.slice(0, 14), "\n"]],
  [`${name}: letters`, [`${name}: `, LETTERS, "\n"]],
  [`"${name}":`, [`{"${name}": "`, LETTERS, '"}']],
]);

/** Secrets that what stands around them gives away. */
export const SECRET_PLACES: Readonly<Record<string, Place>> = {
  ...Object.fromEntries(NAMED),
  "bearer of letters": ["Authorization: Bearer ", "sCHwoLcDGNvBCDBAxZFury", "\n"],
  "indented key": [
    "key: |\n    -----BEGIN PRIVATE KEY-----\n    ",
    linesOf("    ", 8),
    "    -----END PRIVATE KEY-----\n",
  ],
  "key of grep": [
    "key.pem:1:-----BEGIN RSA PRIVATE KEY-----\nkey.pem:2:",
    linesOf("key.pem:3:", 8),
    "key.pem:11:-----END RSA PRIVATE KEY-----\n",
  ],
  "key of diff": ["+-----BEGIN EC PRIVATE KEY-----\n+", linesOf("+", 3), "+-----END EC PRIVATE KEY-----\n"],
  "key with numbers": [
    "     1\t-----BEGIN PRIVATE KEY-----\n     2\t",
    linesOf("     3\t", 8),
    "    11\t-----END PRIVATE KEY-----\n",
  ],
  "key without its first line": [
    KEY_LINE.slice(0, 11),
    `${KEY_LINE.slice(11)}\n${linesOf("", 24)}`,
    "-----END RSA PRIVATE KEY-----\n",
  ],
  PuTTY: ["Public-Lines: 1\nAAAAB3NzaC1yc2E\nPrivate-Lines: 4\n", linesOf("", 4), `Private-MAC: ${HEX}\n`],
  "JSON web key": ['{"kty":"EC","crv":"P-256","d":"', LONG.slice(0, 43), '"}'],
  minisign: ["untrusted comment: minisign encrypted secret key\n", `RWRT${LONG.slice(0, 60)}`, "\n"],
  "list of arguments": ['["--password","', "d9u3XLGAYWCI", '"]'],
  define: ["define('DB_PASSWORD', '", "NuWFXRs0qoam", "');"],
  "name and value": ['{"name":"DB_PASSWORD","value":"', "5QrIOvULB9xY", '"}'],
  "name and value in lines": ["- name: DB_PASSWORD\n  value: ", "swordfishes", "\n"],
  "attributes of XML": ['<add key="DbPassword" value="', "7El68vyk9Kkz", '"/>'],
  "block of YAML": ["password: |\n  ", "rxip2GHJ2Xwz", "\n"],
  "folded block of YAML": ["password: >-\n    ", "correct horse", "\n"],
  "registry of Docker": ['{"auths":{"https://index.docker.io/v1/":{"auth":"', "am9lOkhhUDQ5UnFzV2tlZA==", '"}}}'],
  "redis-cli -a": ["redis-cli -h cache -a ", "MQYKiEvfSFvIH", " ping"],
  "ldapsearch -w": ["ldapsearch -D cn=x -w ", "unZDLHlhUU4s0", " -b dc=x"],
  "curl -b": ["curl -b 'session=", MIXED, "' https://example.org"],
  "echo to a login": ["echo ", "NOeqOr7r3sMGo", " | docker login -u ana --password-stdin"],
  "token in the place of a name": ["https://7JL0rGKAmrd", "BOFMgEByuhilhxWZdc2", "@github.com/x/y.git"],
  "key in an address": ["https://example.org/?key=", "n7KPL9l917bulljK9K6N", "&x=1"],
  "code in an address": ["https://example.org/cb?code=", "nVA4k9gUBZuQ2LeOtpJJ", "&state=1"],
  "Digest header": ['Authorization: Digest username="ana", response="', HEX.slice(0, 32), '"'],
  "subscript in Python": ['os.environ["DB_PASSWORD"] = "', "q7Xd0Kp2Lw9e", '"\n'],
  "variable of a Dockerfile": ["ENV DB_PASSWORD ", "q7Xd0Kp2Lw9e", "\n"],
  "short variable of a Dockerfile": ["ENV DB_PASS ", "q7Xd0Kp2Lw9e", "\n"],
  "--pass": ["tool --pass ", "q7Xd0Kp2Lw9e", " run"],
  "--password that begins like a word": ["tool --password ", "a7Xd0Kp2Lw9e", " run"],
  "password that begins like a word": ["password: ", "a9u8 green horses", "\n"],
  "short element of XML": ["<db_pass>", "q7Xd0Kp2Lw9e", "</db_pass>"],
  senha_db: ["senha_db: ", "q7Xd0Kp2Lw9e", "\n"],
  contraseña_del_banco: ["contraseña_del_banco=", "q7Xd0Kp2Lw9e", "\n"],
  segredo_jwt: ['{"segredo_jwt":"', "q7Xd0Kp2Lw9e", '"}'],
  "contraseña in an address": ["https://example.org/?contrase%C3%B1a=", "q7Xd0Kp2Lw9e", "&x=1"],
  "UUID that begins with digits": ["//registry.example.org/:_authToken=", `12345678-${UUID.slice(9)}`, "\n"],
  "mysql -p before -u": ["mysql -p", "q7Xd0Kp2Lw9e", " -u root"],
  "key of a user of Kubernetes": ["client-key-data: ", `${LONG.slice(0, 50)}+/${LONG}==`, "\n"],
  "Okta header without its name": ["SSWS ", `00${LONG.slice(0, 40)}`, "\n"],
  "clave de palabras": ["clave: ", "casa verde perro limon", "\n"],
  "Telegram bot in an address": ["https://example.org/?token=4194412768%3A", `AA${MIXED}x`, "&x=1"],
};

function linesOf(before: string, lines: number): string {
  return Array.from({ length: lines }, (_, at) => `${at === 0 ? "" : before}${KEY_LINE}\n`).join("");
}
