import { REDACT_LIMITS } from "../limits.ts";
import { either, charRun, literal } from "./pattern.ts";
import { runOf } from "./scan.ts";
import type { Tail } from "./scan.ts";
import { ANYWHERE, key, NAME_TAIL } from "./shape.ts";
import type { Shape } from "./shape.ts";

const ALNUM = "[A-Za-z0-9]";
const NAME = "[A-Za-z0-9_-]";
const DOTTED = "[A-Za-z0-9_.-]";
const HEX = "[0-9a-f]";

/** Prefixes by which services mark their keys, what follows, and how much of it tells a key from a word. */
const PREFIXES: readonly (readonly [prefixes: string, set: string, chars: number])[] = [
  ["sk-", NAME, 20],
  ["sk_live_ sk_test_ rk_live_ rk_test_ whsec_", ALNUM, 16],
  ["gho_ ghp_ ghr_ ghs_ ghu_", ALNUM, 20],
  ["github_pat_", "[A-Za-z0-9_]", 20],
  ["glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-", NAME, 16],
  ["GR1348941", NAME, 20],
  ["AKIA ASIA ABIA ACCA", "[A-Z0-9]", 16],
  ["ABSK", "[A-Za-z0-9+/]", 60],
  ["AIza", NAME, 30],
  ["GOCSPX-", NAME, 20],
  ["ya29.", NAME, 20],
  ["npm_ hf_ api_org_", ALNUM, 30],
  ["pypi-Ag", NAME, 30],
  ["rubygems_", HEX, 40],
  ["hvs. hvb. hvr.", NAME, 20],
  ["SG.", DOTTED, 40],
  ["SK", HEX, 32],
  ["key-", HEX, 32],
  ["xkeysib-", HEX, 40],
  ["xapp-", NAME, 20],
  ["dop_v1_ doo_v1_ dor_v1_", HEX, 40],
  ["dapi", HEX, 32],
  ["shpat_ shpca_ shppa_ shpss_", "[0-9A-Fa-f]", 32],
  ["gsk_ pplx- xai- r8_", ALNUM, 30],
  ["glc_ glsa_", "[A-Za-z0-9+/_]", 30],
  ["dp.pt. dp.st. dp.ct. dp.sa.", DOTTED, 30],
  ["lin_api_ lin_oauth_ ntn_", ALNUM, 30],
  ["secret_", ALNUM, 40],
  ["PMAK-", NAME, 24],
  ["pul-", HEX, 40],
  ["pscale_tkn_ pscale_pw_ pscale_oauth_", DOTTED, 30],
  ["sntrys_ sntryu_", "[A-Za-z0-9+/=_]", 40],
  ["squ_ sqp_ sqa_", HEX, 40],
  ["NRAK- NRJS- NRII-", NAME, 16],
  ["dt0c01.", DOTTED, 40],
  ["dckr_pat_ dckr_oat_", NAME, 20],
  ["ATATT3 ATCTT3", "[A-Za-z0-9_=-]", 40],
  ["sq0atp- sq0csp-", NAME, 20],
  ["EAA", ALNUM, 60],
  ["AGE-SECRET-KEY-1", "[0-9A-Z]", 40],
  ["sha256~", NAME, 40],
  ["tskey-", NAME, 20],
  ["sgp_", "[A-Za-z0-9_]", 32],
  ["ops_eyJ", "[A-Za-z0-9+/=]", 40],
  ["HRKU-AA", NAME, 40],
  ["sbp_ sb_secret_", "[A-Za-z0-9_]", 24],
  ["CFPAT-", NAME, 40],
  ["shippo_live_ shippo_test_", HEX, 40],
  ["rdme_ pnu_", ALNUM, 36],
  ["fo1_ fm1_ fm2_", "[A-Za-z0-9+/=_]", 40],
  ["tfp_", "[A-Za-z0-9_.=-]", 40],
  ["FLWSECK-", ALNUM, 12],
  ["EZAK EZTK", ALNUM, 50],
  ["LTAI", ALNUM, 20],
  ["AKCp", ALNUM, 60],
  ["v1.0-", "[0-9a-f-]", 60],
];

const PREFIXED: readonly Shape[] = PREFIXES.flatMap(([prefixes, set, chars]) =>
  prefixes.split(" ").map((prefix) => key(prefix, set, chars)),
);

const BASE64URL = "[A-Za-z0-9_-]";
const JWT_TAIL = runOf("[A-Za-z0-9_.=-]");

/** Keys that a prefix alone does not tell. */
const FORMED: readonly Shape[] = [
  { secret: [...literal("xox"), charRun("[a-z]", 1), ...literal("-"), charRun("[A-Za-z0-9-]", 12)], tail: NAME_TAIL },
  // Vault's keys before version 1.10.
  {
    unless: `(?=s\\.${ALNUM}{0,23}[A-Z])(?=s\\.${ALNUM}{0,23}[0-9])`,
    secret: [...literal("s."), charRun(ALNUM, 24)],
    tail: NAME_TAIL,
  },
  { secret: [...literal("pat"), charRun(ALNUM, 14), ...literal("."), charRun(HEX, 40)], tail: NAME_TAIL },
  // What stands before these says whose they are and no more: the id of a bot, of a team, of an application.
  { behind: "(?<=[0-9]{8})", before: literal(":"), secret: [...literal("AA"), charRun(NAME, 30)], tail: NAME_TAIL },
  { behind: "(?<=[A-Za-z0-9]{14})", before: literal(".atlasv1."), secret: [charRun(NAME, 40)], tail: NAME_TAIL },
  {
    behind: "(?<=[A-Za-z0-9_~.-]{3})",
    secret: [charRun("[0-9]", 1), ...literal("Q~"), charRun("[A-Za-z0-9_~.-]", 30)],
    tail: runOf("[A-Za-z0-9_~.-]"),
  },
  // A token of three base64url parts; a first part that begins with `{"alg":` needs no second to be known.
  { secret: [...literal("eyJhbGciOi"), charRun(BASE64URL, 16)], tail: JWT_TAIL },
  { secret: [...literal("eyJ"), charRun(BASE64URL, 8, 256), ...literal("."), charRun(BASE64URL, 8)], tail: JWT_TAIL },
  // How a system keeps its users' passwords.
  {
    behind: ANYWHERE,
    secret: [
      ...literal("$"),
      either(
        literal("1"),
        literal("5"),
        literal("6"),
        literal("y"),
        literal("7"),
        literal("gy"),
        literal("2a"),
        literal("2b"),
        literal("2y"),
        literal("apr1"),
      ),
      ...literal("$"),
      charRun("[A-Za-z0-9./$=,]", 22),
    ],
    tail: runOf("[A-Za-z0-9./$=,]"),
  },
  {
    behind: ANYWHERE,
    secret: [...literal("$argon2"), charRun("[id]", 1, 2), ...literal("$"), charRun("[A-Za-z0-9+/$=,]", 30)],
    tail: runOf("[A-Za-z0-9+/$=,]"),
  },
];

const KEY_END = /-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END_CHARS = 64;

/** Everything up to the line that ends a private key. */
const PRIVATE_KEY_TAIL: Tail = {
  eat(text, from, { eaten, last }) {
    const limit = from + REDACT_LIMITS.privateKeyChars - eaten;
    const end = KEY_END.exec(text.slice(from, limit));
    if (end !== null) return { to: from + end.index + end[0].length, done: true };
    if (text.length >= limit) return { to: limit, done: true };
    return { to: last ? text.length : Math.max(from, text.length - KEY_END_CHARS), done: false };
  },
};

const LINE_BREAK = either([charRun(String.raw`\s`, 1)], [charRun(String.raw`\\`, 1, 4), charRun("[nrt]", 1)]);

const PRIVATE_KEY: Shape = {
  behind: ANYWHERE,
  secret: [
    ...literal("-----BEGIN "),
    charRun("[A-Z0-9 ]", 0, 32),
    ...literal("PRIVATE KEY"),
    either(literal("-----"), literal(" BLOCK-----")),
    LINE_BREAK,
    either([], [LINE_BREAK]),
    // Words about keys have no such line behind the first: either the key itself, or a header as in `Proc-Type: `.
    either([charRun("[A-Za-z0-9+/]", 16)], [charRun("[A-Za-z-]", 4, 12), ...literal(": ")]),
  ],
  tail: PRIVATE_KEY_TAIL,
};

/** Keys and tokens that tell by their own letters what they are. */
export const KEY_SHAPES: readonly Shape[] = [PRIVATE_KEY, ...PREFIXED, ...FORMED];
