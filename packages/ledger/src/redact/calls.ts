import { isGenerated, isMixed, isRandom, isTemplate } from './checks.ts'
import { isJoinedHere, isJoinedInQuotes } from './joined-words.ts'
import { type Detector, simple } from './detector.ts'
import { anyCase } from './keys.ts'
import { isNumberedPair, isWordPhrase } from './passphrase.ts'
import { QUOTE } from './pieces.ts'

/** Calls by whose name an argument is known to be a secret. */

const STRING = `[bru]?${QUOTE}[^"'\`\\r\\n\\\\]{0,200}${QUOTE}`
/** Of the name of a call. */
const BEGIN = '(?:(?<![a-zA-Z])|(?<=\\\\[bfnrt]))'
const SECRET = `[bru@]?${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,512})(?=${QUOTE})`
const SHORT_NAME = '(?:_PASS|_PWD|_pass|_pwd|(?<=["\'])(?:pass|pwd|PASS))'
/** Any argument before: a name, a string, an object, a call. */
const ANY = `(?:[^"'\`\\r\\n,(){}]{0,80}(?:${STRING})?(?:\\{[^{}]{0,240}\\}|\\([^()\\r\\n]{0,120}\\))?[^"'\`\\r\\n,(){}]{0,40})`

/** The user and the password behind an address. */
const CONNECTS =
  'getConnection|createPdoConnection|Sequelize|FTP|FTP_TLS|PDO|mysqli|mysqli_connect|mysqli_real_connect|mysql_connect|oci_connect|ftp_login|ssh2_auth_password|imap_open|odbc_connect|sqlsrv_connect|dbConnect|createConnection|createPool|connect|driver|bind|open|__construct|sp_addlogin|database'
/** What a password is handed to when it is stored. */
const HASHES =
  'Hash::make|Hash\\.make|bcrypt|bcrypt\\.(?:hash|hashSync|hashpw)|hashpw|password_hash|make_password|set_password|check_password|generate_password_hash|hash_password|hashPassword|argon2\\.hash|pwd_context\\.hash|ph\\.hash|passlib\\.hash|crypt|CRYPT|PWDENCRYPT|pwdencrypt|(?<=[pP][aA][sS]{2}[A-Za-z_]{0,12} ?= ?|[pP][wW][dD]? ?= ?)(?:PASSWORD|password|MD5|md5|SHA\\d{0,3}|sha\\d{0,3}|UNHEX\\(SHA\\d{1,3})'
/** Which one a filter of a template makes. */
const NAME_OF_HASH = /^(?:sha|md)-?\d+(?:_?crypt)?$/
/** The secret behind what is signed. */
const SIGNS =
  'jwt\\.(?:sign|verify|encode|decode)|JWT\\.(?:sign|verify|encode|decode)|jsonwebtoken\\.(?:sign|verify)|createHmac|createSigner|createCipheriv|HmacSHA(?:1|256|512)|hash_hmac|AES\\.(?:encrypt|decrypt)|(?:HMAC|Hmac)\\.(?:hexdigest|digest)|signToken|verifyToken|openssl_encrypt|SymmetricSecurityKey|pgp_sym_(?:en|de)crypt|crypt_key'
/** An id, and then the key. */
const CLIENTS =
  'algoliasearch|AlgoliaSearch\\.client|liteClient|[tT]wilio|Twilio\\.Client|Client|Razorpay|MailjetClient|apiConnect|Nexmo|Vonage|createClient|StreamChat(?:\\.getInstance)?|StaticCredentialsProvider|BasicAWSCredentials|AwsBasicCredentials\\.create|StorageSharedKeyCredential|AzureNamedKeyCredential|BasicSessionCredentials|OAuth1|OAuth1Session|OAuthHandler|setAccessToken|Pusher|PubNub'
/** One argument is all. */
const ALONE =
  'Fernet|ServerClient|Wallet|fromPrivateKey|privateKeyToAccount|fromSecretKey|PrivateKey|PrivateKeySigner|cookieParser|AzureKeyCredential|CognitiveServicesCredentials|Stripe|stripe|setApiKey|set_api_key|SetAPIKey|setPassword|setSecret|SetPassword|setToken|SecretKeySpec|SecretString|SecretStr|GuardedString|PasswordAuthenticator|withPassword|WithPassword|setSigningKey|signWith|secret_key'

const isSecret = (text: string): boolean =>
  !isTemplate(text) &&
  !/^(?:[-/.]|pass(?:word|wd)?$|secret$|true$|false$|utf-?8$|hex$|base64\w*$|sha\d+$|[hrep]s\d{3}$|[a-z]+:\/\/)|\s.*\s|[<>{}]|^[\w.+-]+@[\w.-]+$|^[\w-]*\.[a-z]{2,6}$/i.test(
    text,
  ) &&
  (isMixed(text) || /[!@#$%^&*+?]/.test(text) || isWordPhrase(text))

/** Of a call that has many other uses. */
const isSurely = (text: string): boolean =>
  isSecret(text) &&
  text.length >= 8 &&
  (isNumberedPair(text) ||
    !/^[a-z]+[-_:.]?[a-z]*[-_:.]?\d{0,5}$|^\d+$|\.[a-z]{2,4}$|:\d+$|^[a-z]+:/.test(text))

/** `pymysql.connect(host, user, password)`. */
const isOfDatabase = ({ input, index }: RegExpExecArray): boolean =>
  /(?:pymysql|MySQLdb|psycopg2?|mysql\.connector|mariadb|oracledb|cx_Oracle|pymssql|pyodbc|ftp|smtp|imap|ldap|DBI|ssh)\w*(?:\.|->)$/i.test(
    input.slice(Math.max(0, index - 24), index),
  )

/** How all of these names end; in prose a gap stands before the bracket. */
const CALLED =
  '\\((?<=\\w.)(?<=(?:Fernet|_user|eUser|superuser|egin|icate|ogin|\\.load|getKey|\\.init|\\.store|Protection|Material|Factory|KeyManager|MD5|md5|sha\\d{0,3}|CRYPT|ASSWORD|:make|\\.make|\\.hash|hashSync|hashpw|_hash|database|:auth|>auth|Wallet|[sS]igner|Account|Hmac|Key|OAuth1|PDO|FTP|_TLS|Parser|Pool|PubNub|SHA\\d{1,3}|Signer|Spec|String|SecretStr|Token|With|\\.AUTH|\\.auth|_key|_login|assword|bind|bind_s|cator|create|crypt|crypt_key|decode|digest|ecret|ection|encode|ential|entials|eriv|ession|exmo|hat|hmac|hmac\\.new|lient|mysqli|ndler|nect|nstance|oken|onage|onnect|onstruct|elize|open|orpay|pass|river|search|sign|tripe|unwrap_or|usher|verify|vider|wilio|word|lient\\.new|lient::new|wilio\\.init).)(?=[^"\'`)]{0,400}["\'`({])'

export const callDetectors: readonly Detector[] = [
  simple(
    'password',
    CALLED,
    `${BEGIN}(?:${CONNECTS})\\(\\s{0,12}${ANY},\\s{0,12}(?:[a-z]{1,12} ?= ?)?${STRING},\\s{0,12}(?:p[a-z]{1,12} ?= ?)?${SECRET}`,
    (secret, match) =>
      /^(?:connect|driver|bind|open|database|dbConnect)\(/.test(match[0]) && !isOfDatabase(match)
        ? isSurely(secret)
        : isSecret(secret) || isJoinedHere(secret),
  ),
  // Whatever is called with an address of PDO, a user and then the password; frames of PHP have the arguments as well.
  simple(
    'password',
    [
      `:(?<=\\(\\\\{0,9}["'](?:mysql|pgsql|sqlsrv|oci|dblib|odbc|firebird|ibm).)`,
      `\\((?<=\\.php\\(\\d{1,5}\\): [\\w\\\\>:-]{1,160}(?:login|Login|attempt|uthenticate|logon|heckPassword|erifyPassword|etPassword|password_verify|password_hash|imap_open|ldap_bind|ftp_login).)`,
    ],
    `\\(${QUOTE}(?:mysql|pgsql|sqlsrv|oci|dblib|odbc|firebird|ibm):[^"'\`\\r\\n]{1,200}${QUOTE}, ?${STRING}, ?${SECRET}`,
    (secret) => isSecret(secret) || isJoinedHere(secret),
  ),
  simple(
    'password',
    [],
    `\\.php\\(\\d{1,5}\\): [\\w\\\\>:-]{1,160}(?:login|Login|attempt|uthenticate|logon)\\(${STRING}, ?${SECRET}`,
    (secret) => isSecret(secret) || isJoinedHere(secret),
  ),
  // `new SftpClient("host", 22, "kim", "…")`.
  simple(
    'password',
    [],
    `${BEGIN}(?:Sftp|Ssh|Scp|Ftp|Smtp|Imap|Pop3|Mqtt|Ldap|Telnet|Winrm|WinRM|Smb|SMB|SSH|SFTP|FTP)(?:Client|Connection|Session)\\(\\s{0,12}${STRING},\\s{0,12}(?:\\d{2,5},\\s{0,12})?${STRING},\\s{0,12}${SECRET}`,
    (secret) => isSecret(secret) || isJoinedHere(secret),
  ),
  // `odoo.authenticate("db", "kim", "…", {})`.
  simple(
    'password',
    [],
    `${BEGIN}(?:[aA]uthenticate|[lL]ogin)\\(\\s{0,12}${STRING},\\s{0,12}${STRING},\\s{0,12}${SECRET}`,
    (secret) => isSurely(secret) || isGenerated(secret),
  ),
  // `create_user('kim', 'kim@example.org', '…')`, `ldap_bind(c, "cn=admin", "…")`, `wifi.begin(net, "…")`.
  simple(
    'password',
    [],
    `${BEGIN}(?:create_user|create_superuser|createUser|keyring\\.set_password|ldap_bind|simple_bind_s)\\(\\s{0,12}${ANY},\\s{0,12}${STRING},\\s{0,12}${SECRET}`,
    (secret) => isSecret(secret) || isJoinedHere(secret),
  ),
  simple(
    'password',
    [],
    `(?:[wW]i[fF]i\\.begin|->bind)\\(\\s{0,12}(?:${STRING}|[\\w.$]{1,40}),\\s{0,12}${SECRET}`,
    (secret) => isSecret(secret) || isJoinedHere(secret),
  ),
  // `keyStore.load(stream, "…".toCharArray())`.
  simple(
    'password',
    [],
    `(?:\\.load|getKey|\\.init|PBEKeySpec|PasswordProtection|KeyMaterial|TrustMaterial|\\.store|KeyManager|KeyFactory|connect|setPassword)\\([^"'\`\\r\\n]{0,80}${SECRET}(?=${QUOTE}\\.toCharArray)`,
    (secret) => !isTemplate(secret) && !/\s/.test(secret),
  ),
  // With a port, or a database, before the user.
  simple(
    'password',
    [],
    `${BEGIN}(?:dbConnect|connect|database|ssh2_connect|mysql_real_connect|createConnection)\\(\\s{0,12}${ANY},\\s{0,12}(?:\\d{2,5}|${STRING}),\\s{0,12}${STRING},\\s{0,12}${SECRET}`,
    isSurely,
  ),
  // `Hash::make('…')`, `bcrypt.hash("…", 10)`.
  simple(
    'password',
    [],
    `${BEGIN}(?:${HASHES})\\(\\s{0,12}${SECRET}`,
    (secret) => (isNumberedPair(secret) || isJoinedHere(secret)) && !NAME_OF_HASH.test(secret),
  ),
  simple('secret', [], `${BEGIN}(?:${SIGNS})\\(\\s{0,12}${ANY},\\s{0,12}(?:key ?= ?)?${SECRET}`, isSecret),
  simple(
    'api-key',
    [],
    `${BEGIN}(?:${CLIENTS})(?:(?:\\.|::)(?:new|init))?\\(\\s{0,12}${STRING},\\s{0,12}${SECRET}`,
    isSurely,
  ),
  simple(
    'secret',
    [],
    `(?:${BEGIN}(?:${ALONE})|\\.password|[.:>]auth|\\.AUTH)\\(\\s{0,12}${SECRET}`,
    (secret, match) =>
      (/^(?:set|Set|with|With|\.p)\w*assword/.test(match[0]) && isJoinedHere(secret)) ||
      (isSecret(secret) &&
        (!/^(?:\\.auth|stripe|Stripe|setToken)/.test(match[0]) || isGenerated(secret) || isSurely(secret))),
  ),
  // `getenv('DB_PASS', '…')`, `var("DB_PASSWORD").unwrap_or("…")`.
  simple(
    'password',
    [`[,;|](?<=${SHORT_NAME}${QUOTE}.)`, `\\?(?<=(?:_PASS|_PWD|_PW)["'\`\\\\)\\]]{0,4} ?.)`],
    `(?:${SHORT_NAME}${QUOTE}, {0,2}(?:default ?= ?)?|(?:_PASS|_PWD|_PW)["'\`\\\\)\\]]{0,4} ?(?:\\?\\?|\\?:|\\|\\|) ?|(?:${SHORT_NAME}|${anyCase('password|secret|token|key')})${QUOTE}\\)\\.unwrap_or\\()${SECRET}`,
    (secret) => isSecret(secret) || isJoinedInQuotes(secret),
  ),
  // `NewClient("https://…", "…")`: an address, and then the key to it.
  simple(
    'token',
    `\\((?<=\\w.)(?=\\s{0,12}${QUOTE}https?:\\/\\/[^"'\`\\s]{3,200}["'\`],[^"'\`]{0,64}["'\`][\\w+/.-]{16})`,
    `\\(\\s{0,12}${QUOTE}https?:\\/\\/[^"'\`\\s\\\\]{3,200}${QUOTE},\\s{0,12}(?:[a-z_]{0,16}(?:token|key) ?[:=] ?)?${QUOTE}(?<secret>[\\w+/.-]{16,200}={0,2})(?=${QUOTE})`,
    (secret) => isKey(secret) && isRandom(secret) && !/^sha\d+-/.test(secret),
  ),
  // `hmac.new(b"…", …)`.
  simple('secret', [], `hmac\\.new\\(\\s{0,4}(?:key ?= ?)?${SECRET}`, isSecret),
]

/** A long run of letters and digits in no order; an object of a store has a path or an id for a key. */
const isKey = (text: string): boolean =>
  isGenerated(text) &&
  !/[./]\w{2,5}$|\//.test(text) &&
  !/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) &&
  !/^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(text) &&
  (text.match(/\d/g)?.length ?? 0) >= 4

/** Apart, for its sign. */
export const keyDetectors: readonly Detector[] = [
  // `params={"q": city, "appid": "…"}`: of OpenWeather; those of others that are no secret have another form.
  simple(
    'api-key',
    ':(?<=(?:appid|APPID)["\'`\\\\]{0,9} ?.)(?= {0,2}["\'`\\\\]{1,9}[0-9a-f]{32})',
    `(?:appid|APPID)(?:${QUOTE})? ?: {0,2}${QUOTE}(?<secret>[0-9a-f]{32})(?=${QUOTE})`,
  ),
  // `client({ username: 'api', key: '…' })`, and the like with a plain `key`.
  simple(
    'api-key',
    ':(?<=(?<![a-zA-Z_-])[kK]ey["\'`\\\\]{0,9} ?.)(?= {0,2}["\'`\\\\]{1,9}[\\w+/=.-]{20})',
    `(?<![a-zA-Z_-])[kK]ey(?:${QUOTE})? ?: {0,2}${QUOTE}(?<secret>[\\w+/=.-]{20,200})(?=${QUOTE})`,
    (secret, { input, index }) =>
      isKey(secret) &&
      !/public|cache|etag|sort|partition|object|s3|bucket/i.test(input.slice(Math.max(0, index - 60), index)),
  ),
]
