import { either, charRun, literal } from "./pattern.ts";
import { runOf } from "./scan.ts";
import { ANYWHERE, key, NAME_TAIL } from "./shape.ts";
import type { Shape } from "./shape.ts";

const ALNUM = "[A-Za-z0-9]";
const NAME = "[A-Za-z0-9_-]";
const DOTTED = "[A-Za-z0-9_.-]";
const HEX = "[0-9a-f]";

/** Key prefixes of services, the characters that follow, and the least number of them that distinguishes a key from a word. */
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
  ["sbp_ sb_secret_", NAME, 24],
  ["CFPAT-", NAME, 40],
  ["shippo_live_ shippo_test_", HEX, 40],
  ["rdme_ pnu_", ALNUM, 36],
  ["fo1_ fm1_ fm1r_ fm1a_ fm2_", "[A-Za-z0-9+/=_-]", 40],
  ["tfp_", "[A-Za-z0-9_.=-]", 40],
  ["FLWSECK-", ALNUM, 12],
  ["EZAK EZTK", ALNUM, 50],
  ["LTAI", ALNUM, 20],
  ["AKCp", ALNUM, 60],
  ["v1.0-", "[0-9a-f-]", 60],
  ["ATBB", ALNUM, 28],
  ["oy2", "[a-z0-9]", 43],
  ["cio", ALNUM, 32],
  ["CLOJARS_", "[A-Za-z0-9]", 50],
  ["rnd_ sm_pat_ sm_aat_ sm_sat_", ALNUM, 16],
  ["nfp_ nfc_ nfo_ nfu_ ddp_ ddw_ aio_", ALNUM, 26],
  ["AKID", ALNUM, 32],
  ["ico-", ALNUM, 32],
  ["lsv2_pt_ lsv2_sk_", HEX, 32],
  ["nvapi- pcsk_ figd_ duffel_live_ duffel_test_ mdb_sa_sk_ fio-u- xsmtpsib- tk-us- dnkey-", NAME, 36],
  ["sk_", HEX, 40],
  ["EAAA", NAME, 60],
  ["FLWSECK_TEST- FLWSECK_LIVE-", ALNUM, 12],
  ["CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]", 40],
  ["bkua_ bkaj_", HEX, 40],
  ["s-s4t2ud- s-s4t2af-", HEX, 60],
  ["cmVmdGtu", ALNUM, 56],
  ["eyJrIjoi", "[A-Za-z0-9+/=]", 60],
  ["AQVN", NAME, 35],
  ["t1.", DOTTED, 100],
  ["sl.", NAME, 100],
  ["p8e-", "[a-z0-9]", 32],
  ["KEY0", NAME, 50],
  ["tvly- csk- jina_ phx_ rpa_ e2b_ vcp_ vck_", ALNUM, 32],
];

const PREFIXED: readonly Shape[] = PREFIXES.flatMap(([prefixes, set, chars]) =>
  prefixes.split(" ").map((prefix) => key(prefix, set, chars)),
);

const BASE64URL = "[A-Za-z0-9_-]";
const JWT_TAIL = runOf("[A-Za-z0-9_.=-]");

/** Separators inside keys, plain and percent-encoded. */
const DOLLAR = either(literal("$"), literal("%24"));
const SLASH = either(literal("/"), literal("%2F"));
const COLON = either(literal(":"), literal("%3A"));

/** For keys with a common prefix: no letter, digit, `_` or `-` may precede them. */
const WORD_ALONE = { behind: "(?<![A-Za-z0-9_-])", previous: "[^A-Za-z0-9_-]" };

/** Keys that are not recognised by a prefix alone. */
const FORMED: readonly Shape[] = [
  { secret: [...literal("xox"), charRun("[a-z]", 1), ...literal("-"), charRun("[A-Za-z0-9-]", 12)], tail: NAME_TAIL },
  // Vault tokens before version 1.10.
  {
    unless: `(?=s\\.${ALNUM}{0,23}[A-Z])(?=s\\.${ALNUM}{0,23}[0-9])`,
    secret: [...literal("s."), charRun(ALNUM, 24)],
    tail: NAME_TAIL,
  },
  { secret: [...literal("pat"), charRun(ALNUM, 14), ...literal("."), charRun(HEX, 40)], tail: NAME_TAIL },
  {
    secret: [
      either(literal("pat."), literal("sat.")),
      charRun(NAME, 22),
      ...literal("."),
      charRun(HEX, 24),
      ...literal("."),
      charRun(ALNUM, 20),
    ],
    tail: NAME_TAIL,
  },
  // Discord bot tokens: the first part is a number in base64.
  {
    ...WORD_ALONE,
    secret: [
      charRun("[MNO]", 1),
      charRun(ALNUM, 22, 27),
      ...literal("."),
      charRun(NAME, 6, 7),
      ...literal("."),
      charRun(NAME, 27),
    ],
    tail: NAME_TAIL,
  },
  // A digit is required, because words may begin with these prefixes.
  ...[
    [...literal("SCW"), charRun("[A-Z0-9]", 17)],
    [...literal("API-"), charRun("[A-Z0-9]", 26)],
    [...literal("YC"), charRun(NAME, 38)],
    [...literal("b_"), charRun("[a-z0-9=_-]", 44)],
  ].map((secret) => ({ unless: "(?=[^0-9]{0,16}[0-9][^0-9]{0,8}[0-9])", secret, tail: NAME_TAIL })),
  { secret: [...literal("re_"), charRun(ALNUM, 8), ...literal("_"), charRun(ALNUM, 20)], tail: NAME_TAIL },
  { secret: [either(literal("live_"), literal("test_")), charRun(HEX, 35)], tail: NAME_TAIL },
  {
    ...WORD_ALONE,
    secret: [...literal("2"), charRun(ALNUM, 26), ...literal("_"), charRun("[0-9]", 1), charRun(ALNUM, 20)],
    tail: NAME_TAIL,
  },
  {
    ...WORD_ALONE,
    // The first digits are shown, so that a stream does not have to hold back every short hash.
    before: [charRun(HEX, 11)],
    unless: "(?=[^]{21}-us)",
    secret: [charRun(HEX, 21), ...literal("-us"), charRun("[0-9]", 1, 2)],
    tail: NAME_TAIL,
  },
  {
    unless: "(?=A3-[A-Z0-9]{0,6}-[A-Z0-9-]{0,24}[0-9])",
    secret: [...literal("A3-"), charRun("[A-Z0-9]", 6), ...literal("-"), charRun("[A-Z0-9-]", 24)],
    tail: NAME_TAIL,
  },
  ...["sdk-", "mob-", "access-sandbox-", "access-development-", "access-production-"].map((prefix) => ({
    secret: [
      ...literal(prefix),
      charRun(HEX, 8),
      ...literal("-"),
      charRun(HEX, 4),
      ...literal("-"),
      charRun(HEX, 4),
      ...literal("-"),
    ],
    tail: NAME_TAIL,
  })),
  {
    secret: [
      ...literal("access_token"),
      DOLLAR,
      either(literal("production"), literal("sandbox")),
      DOLLAR,
      charRun("[a-z0-9]", 16),
      DOLLAR,
      charRun(HEX, 32),
    ],
    tail: NAME_TAIL,
  },
  {
    behind: "(?<=[A-Za-z0-9]{6})",
    secret: [...literal("_"), charRun(ALNUM, 29), ...literal("_mmk")],
    tail: NAME_TAIL,
  },
  { secret: [...literal("1"), SLASH, SLASH, ...literal("0"), charRun(NAME, 40)], tail: NAME_TAIL },
  { secret: [...literal("1"), SLASH, charRun("[0-9]", 14, 18), COLON, charRun(HEX, 32)], tail: NAME_TAIL },
  // The prefix of these is only an id (of a bot, a team, an application) and is shown.
  { behind: "(?<=[0-9]{8})", before: [COLON], secret: [...literal("AA"), charRun(NAME, 30)], tail: NAME_TAIL },
  { behind: "(?<=[A-Za-z0-9]{14})", before: literal(".atlasv1."), secret: [charRun(NAME, 40)], tail: NAME_TAIL },
  {
    behind: "(?<=[A-Za-z0-9_~.-]{3})",
    secret: [charRun("[0-9]", 1), ...literal("Q~"), charRun("[A-Za-z0-9_~.-]", 30)],
    tail: runOf("[A-Za-z0-9_~.-]"),
  },
  // JSON Web Tokens: three base64url parts. If the first part begins with `{"alg":`, it alone is enough.
  { secret: [...literal("eyJhbGciOi"), charRun(BASE64URL, 16)], tail: JWT_TAIL },
  { secret: [...literal("eyJ"), charRun(BASE64URL, 8, 256), ...literal("."), charRun(BASE64URL, 8)], tail: JWT_TAIL },
  // Password hashes in the format of crypt(3).
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
    tail: runOf("[A-Za-z0-9./$=,_-]"),
  },
  {
    behind: ANYWHERE,
    secret: [...literal("$argon2"), charRun("[id]", 1, 2), ...literal("$"), charRun("[A-Za-z0-9+/$=,]", 30)],
    tail: runOf("[A-Za-z0-9+/$=,]"),
  },
];

/** Keys and tokens that are recognised by their own characters. */
export const KEY_SHAPES: readonly Shape[] = [...PREFIXED, ...FORMED];
