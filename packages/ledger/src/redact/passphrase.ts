/** Words that were joined for a password, as programs that make them and people who remember them do. */

/** Words of which names of things are made: with one of them it is a host, a package, a member, a key of a catalogue or a remark. */
const NAME_WORDS = new Set(
  (
    'secret secrets pass password passwords passwd passphrase passcode key keys token tokens cred creds credential credentials auth oauth login logins logout signin signup ' +
    'prod production staging stage dev devel development test tests testing tested service services svc config configs configuration conf settings setting option options app apps application api tls ssl cert certs certificate backup backups example examples your version release releases cluster node nodes user users admin admins docker registry postgres postgresql mysql redis github gitlab google azure aws vault default defaults ' +
    'com org net www http https localhost local internal example host hosts hostname domain server servers client clients web site page pages form forms field fields label labels placeholder title name names value values error errors message messages msg info warn warning debug trace log logs logger ' +
    'spring boot starter java javax kotlin python ruby react angular vue next nuxt express django flask rails laravel webpack rollup vite babel eslint prettier jest vitest mocha cypress playwright npm yarn pnpm node modules module package packages lib libs src dist build builds bin etc usr var opt tmp home root path paths file files dir folder index main core base common shared utils util helper helpers handler handlers manager factory provider providers controller controllers model models view views component components hook hooks store stores state reducer action actions event events queue worker workers job jobs task tasks cron batch ' +
    'get set put post delete create update remove add new old current last first reset change changed forgot confirm verify verified validate valid invalid missing required optional enable enabled disable disabled allow allowed deny denied read write only self this that these those req request requests res response responses body header headers params param query data database databases schema table tables column columns row rows id ids type types kind list lists item items map set array object string number bool boolean null none undefined true false void async await return const function class interface import export from ' +
    'the and for with not are was were has have had will can could should would must may might does did done its our their his her you they them there here when where what which who why how all any some each every both few more most other such than then too very just about into over under after before between out off via per set use used uses using see please never always still already yet also only same own sure course right left available ' +
    'session sessions cookie cookies cache email mail phone address account accounts profile profiles role roles group groups team teams org policy policies rule rules access refresh bearer basic digest hash hashed salt encrypted encryption public private security secure insecure firewall proxy gateway ingress egress pod pods deployment namespace kube kubernetes helm chart charts terraform ansible jenkins pipeline ci cd image images container containers volume volumes mount network networks subnet region zone bucket storage disk memory cpu metrics monitor monitoring alert alerts grafana prometheus ' +
    'firefox chrome chromium ubuntu debian fedora centos macos openssh openssl nginx apache openjdk keycloak serwer serwerze servidor serveur ' +
    'text html css json yaml yml xml csv pdf png jpg svg icon button input modal dialog menu nav sidebar footer layout theme color dark light small large medium size width height color gray grey primary secondary success danger muted flex grid row col wrap center start end top bottom border margin padding shadow ' +
    'line end time date day week month year hour minute second today step steps phase part section chapter level step way code source target origin cross content resource report state case open close closed free full end point check checks result results status count total max min limit limits usage run runs script scripts command commands manager setup install upgrade migration migrations generator random sample demo dummy fake mock stub fixture fixtures snapshot'
  ).split(' '),
)

/** Of these, one may stand among four words: they name things, but people think of them as well. */
const COMMON_WORDS = new Set(
  (
    'spring boot java ruby python express rails angular node home root path index main core bin worker job batch queue state hook store event action map ' +
    'light dark gray grey small large medium color size wrap center top bottom border margin shadow grid icon button menu nav case open close closed free full end point count total max min limit run script ' +
    'line time date day week month year hour minute second today step phase part section chapter level way source target origin cross right left row table column page form field title trace ' +
    'gateway zone bucket storage disk memory volume network mount image mail phone address account profile role group team rule salt light hour chart helm pod container monitor alert label point result cookie salt most may will ' +
    'over under after before into out off and with'
  ).split(' '),
)

const JOINED = /^[a-z]{3,12}(?:([-_.])[a-z]{3,12})(?:\1[a-z]{3,12}){2,7}$/i
const NUMBERED = /^[a-z]{3,12}(?:[-_.][a-z]{3,12}){2,7}[-_.]?\d{1,4}!?$/i
/** With short words among them, as in a sentence: `seven-goats-in-oslo`, `nobody-is-home-7`. */
const SENTENCE =
  /^(?=.{12})[a-z]{3,12}(?:-[a-z]{2,12}){2,7}(?<=-[a-z]{3,12})(?:-?\d{1,4}!?|(?<=(?:-[a-z]+){3}))$/i

/** A number among the words: `otter-Canyon-58-lamp`. */
const AMONG = /^(?=.{12})[a-z]{3,12}(?:-[a-z]{2,12}){0,3}-\d{1,4}(?:-[a-z]{2,12}){1,4}$/i

function hasNoName(text: string, fewest = 4): boolean {
  const words = text
    .toLowerCase()
    .split(/[-_.\d!]+/)
    .filter((word) => word !== '')
  const names = words.filter((word) => NAME_WORDS.has(word))
  return (
    names.length === 0 || (names.length === 1 && words.length >= fewest && COMMON_WORDS.has(names[0] ?? ''))
  )
}

/** Three words or more with a number behind them. */
export const isNumberedPhrase = (text: string): boolean => NUMBERED.test(text) && hasNoName(text)

/** Also four words or more without one; what stands around them has to say that they are a password. */
export const isPassphrase = (text: string): boolean =>
  isNumberedPhrase(text) ||
  (AMONG.test(text) && /(?:[a-z]+-?){3}|-\d+-.*-/i.test(text) && hasNoName(text)) ||
  ((JOINED.test(text) || SENTENCE.test(text)) && isOneCase(text.replace(/[-\d!]+$/, '')) && hasNoName(text))

/** `maple-comet-velvet-otter`, `Maple-Comet-Velvet-Otter`, but no `camelCase` in between. */
const isOneCase = (text: string): boolean => /^(?:[A-Z]?[a-z]+[-_.]?)+$/.test(text) || !/[a-z]/.test(text)

/** `Anchor-Planet64`. */
export const isCapitalPair = (text: string): boolean =>
  /^[A-Z][a-z]{3,}[-_.][A-Z][a-z]{3,}\d{1,4}$/.test(text) && hasNoName(text)

const PAIR = /^[A-Za-z]{3,14}([-_.])(?:[A-Za-z]{1,2}\1)?[A-Za-z]{3,14}(?:\1?\d{1,4}[!?#*]?|[!#*])$/
const YEARED =
  /^[A-Za-z]{4,14}-(?:19|20)\d\d-\d\d$|^[A-Za-z]{3,14}[-_]\d{3,4}(?:-[a-z]{3,8})?[!?#*]?$|^[a-z]{3,14}\.(?:19|20)\d\d[!?]?$|^[A-Z][a-z]{3,13}[-_.]\d{1,2}[!?#*]?$/

/** `winter_castle1`, `Castle-Winter-84`, `diego_2009`, `pine-6052-crest`: a name of a thing too, unless what stands before it says password. */
export const isNumberedPair = (text: string): boolean =>
  (PAIR.test(text) || YEARED.test(text)) &&
  !/^[A-Z]{2,}[-_]\d+$|^[a-z]+[A-Z]/.test(text) &&
  (!text.includes('.') || /\d\d|^[A-Z][a-z]{3,}(?:\.[A-Z][a-z]{3,})?\.?\d$/.test(text)) &&
  hasNoName(text, 2)

const FAINT = /^[A-Za-z]{5,20}\d[!?]?$|^[a-z]{4,14}[-_]\d{1,2}$/

/** `maplesyrup3`, `otter_12`: the most ordinary of words, unless a sentence says that it is the password. */
export const isFaint = (text: string): boolean =>
  FAINT.test(text) && isSingleCase(text) && hasNoName(text.replace(/(?<=[a-z])(?=[A-Z])/g, '-'), 3)
const isSingleCase = (text: string): boolean => /^[A-Z]?[a-z]+(?:[A-Z][a-z]+)*[^A-Za-z]+$/.test(text)

export const isCommonWord = (word: string): boolean => COMMON_WORDS.has(word.toLowerCase())
export const isNameWord = (word: string): boolean => NAME_WORDS.has(word.toLowerCase())

const WORDS = /^[a-z]{3,12}([-_.])[a-z]{3,12}(?:\1[a-z]{3,12}){1,7}$/i

/** Three words or more, where the place itself says that they are a password. */
export const isWordPhrase = (text: string): boolean =>
  text.length >= 13 && WORDS.test(text) && isOneCase(text) && hasNoName(text)

/** Two words, where not even a word of prose could stand. */
export const isWordPair = (text: string): boolean => /^[a-z]{4,12}-[a-z]{4,12}$/.test(text) && hasNoName(text)

/** Three words are enough where nothing but a password can stand. */
export const isShortPhrase = (text: string): boolean =>
  /^([a-z]{3,10})-[a-z]{2,10}-(?!\1$)[a-z]{4,10}$|^[A-Z][a-z]{2,9}-[A-Za-z]?[a-z]{1,9}-[A-Z][a-z]{2,9}$/.test(
    text,
  ) && hasNoName(text)
