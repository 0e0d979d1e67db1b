import { isExample, isGenerated, isMixed, isPaymentCard, isTemplate, looksRandom } from './judge-value.ts'

/**
 * Secret that is recognised by its own shape. A match starts with a keyword, followed by `body`. The secret is the group
 * `secret`, which must end the match, or the whole match.
 */
export interface Mark {
  readonly kind: string
  readonly keywords: readonly string[]
  /** Sticky pattern for what follows the keyword. Every repetition has an upper limit. */
  readonly body: RegExp
  /** Accepts or rejects the body, or the group `secret`. */
  readonly check?: ((secret: string) => boolean) | undefined
  /** True if the keyword's case does not matter. */
  readonly anyCase?: boolean
  /** Sticky pattern for how far the body may still grow in a stream; default: the characters of a token. */
  readonly extent?: RegExp
  /** True if letters, digits, `-` and `_` after the match belong to the secret, so that no end of a token stays visible. */
  readonly hasTail?: boolean
  /** Two invented bodies, stored apart from the keyword so that secret scanners do not report this file. */
  readonly samples: readonly [string, string]
}

/** Longer tokens are cut here, in streams as in whole texts. */
const MAX = 16_384
const ID = '[A-Za-z0-9]'
const URL_ID = '[A-Za-z0-9_-]'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const END = '(?![A-Za-z0-9_-])'

type Row = readonly [
  kind: string,
  /** Separated by spaces. */
  keywords: string,
  body: string,
  samples: readonly [string, string],
  check?: (body: string) => boolean,
]

/** Keys with a provider's prefix. */
// biome-ignore format: a table, one row a line
const PREFIXED: readonly Row[] = [
  ['anthropic-key', 'sk-ant-', `${URL_ID}{20,${MAX}}`, ['lSh9pg14E9ML9DXBEp5y', 'tDmeM3ExJBst1yzuCVJoXSwT']],
  ['openrouter-key', 'sk-or-', `${URL_ID}{20,${MAX}}`, ['2iMcjZS0lVskYjOFkgcS', 'cEvMH0lm5PdYnqOLmARwvaWf']],
  ['langfuse-key', 'sk-lf-', `${URL_ID}{20,${MAX}}`, ['PS0RkD2qbKzRNcwWAaG9', 'Rjk3s8POeYwf6wf4Yk3cUu32']],
  ['helicone-key', 'sk-helicone-', `${URL_ID}{20,${MAX}}`, ['LPVDIpyOiRLln44PqHzU', 'TqG0WRldi5b8EkoKlvkD3daz']],
  ['openai-key', 'sk-proj- sk-svcacct- sk-admin- sk-None-', `${URL_ID}{20,${MAX}}`, ['uJ3UGNDvvjAZybLNJlkT', 'oH0G9IQFqbqBDAHeD9TJNUcf']],
  ['openai-key', 'sk-', `${ID}{20,${MAX}}`, ['8slJRxueFtuDHTNQni1h', '4e2751hCrFlC7A00CbGgDVNaww5WyhfHjgFQ'], looksRandom],
  ['openai-key', 'sess-', `${ID}{40,${MAX}}`, ['AKTSg9gj455iuFJd5oBLuwsxZCNpqbmOSA26GYUv', '2HMGpTf8Pq97oqkznhxfGR919oJpQ9nM6gKuCCWqyHjl']],
  ['huggingface-key', 'hf_ api_org_', `${ID}{30,${MAX}}`, ['iJeXJpSIG0f026M7LcSkGFbK7oqDlc', 'LInEl1oiIOGGACjGcC4JUG9uAbzLM58dvl']],
  ['groq-key', 'gsk_', `${ID}{32,${MAX}}`, ['zppWxJW85RKTjrXp3l2pdI4YTHRu3kow', 'Q2hZAPfWq6SBYARDJtJJlKm84tWmroqtBDBX']],
  ['xai-key', 'xai-', `${ID}{32,${MAX}}`, ['Q6R43WpLU4simgYRV9CZvB5ttZEmbHeJ', 'Qz5SKNEskpUiCeiVAtZJXeUKUWt2pcT6HJvi']],
  ['perplexity-key', 'pplx-', `${ID}{32,${MAX}}`, ['qAOpTwlyPfU5yq6WmaDJCZtpT5wyPXln', 'AvZRiSHCTaXKGeHTYXZqZPs7vMhZ0nxCLEGc']],
  ['replicate-key', 'r8_', `${ID}{32,${MAX}}`, ['nwwXfelDMDJudxpgPDvQVMdXpWZBAcLh', 'gYrnYyfJkPj4hWnlZflI0C11Ys4dXAEazn35']],
  ['cerebras-key', 'csk-', `${ID}{40,${MAX}}`, ['5k7M6Hyyj0tNXzoY6nIKpcLxSGxrGUS3PSFGJptX', 'l1exJDDUC54MPVx3nFZvhMN6y104JRtWBzwlfvrzrPEL']],
  ['nvidia-key', 'nvapi-', `${URL_ID}{40,${MAX}}`, ['s4XH3eLlfqRabLAwrESAWJCwN6KtWeyjTWw3F7G7', 'krtcmzMmLsksYPDaqYHwuh94zecNfVuiO4ggacs9RwPn']],
  ['together-key', 'tgp_v1_', `${URL_ID}{30,${MAX}}`, ['r0bZMe7NP0tKSbm9E7bYZSR1ajCew3', 'rbIcw3GoIYU2cktJGg7RRVrnqbHHKJWjEA']],
  ['tavily-key', 'tvly-', `${URL_ID}{24,${MAX}}`, ['DJ2L1AWCHOt9jIpgv9Udr0xI', 'ovyvwY5on5h1GbFg7r2pSgUwjkoQ']],
  ['firecrawl-key', 'fc-', `[0-9a-f]{32}${END}`, ['d6a7a80f4f70e306f6c833d320be8178', '37821aef1507f8506fee098352a0896c']],
  ['pinecone-key', 'pcsk_', `\\w{40,${MAX}}`, ['tX5ugZfL9Q3GPbDguSDMcmSaO1aMAwTeRy9YVqyc', 'HOgluNxTDqisWLkTaVT7edfbt3NGEGgRJUAKxuQOGhfe']],
  ['e2b-key', 'e2b_', `[0-9a-f]{40,${MAX}}`, ['64b84d46b6bb0bd46e1fcc2f783bd1cc1508bd37', '67f08cf3c6b6c0a1ba3effdc23cb74b9a90ba30bd683']],
  ['jina-key', 'jina_', `${URL_ID}{40,${MAX}}`, ['56P2mmUSS849XRAb4Zf7oRYKrgbOLvBwCYRfo7vX', 'HM2wiB5T1sr7lutKTvPXdm6fuFUIjrSpmqCVgAU1uATj']],
  ['elevenlabs-key', 'sk_', `[0-9a-f]{48,${MAX}}`, ['a35d1fe862bbcb20fbabaef9dddeac5c5d9741e64c201a6c', 'cba5493ddc9c2cb8a61df1a07d2502cc3e7e948b9c064a6a6b81']],
  ['langsmith-key', 'lsv2_pt_ lsv2_sk_ ls__', '[0-9a-f]{32}[0-9a-z_]{0,16}', ['268f3f63477017b1f3bb44d9118a48aa', '26b89846872f2fae358ede0baabeaa97e28x']],
  ['wandb-key', 'wandb_v1_', `${URL_ID}{40,${MAX}}`, ['yROUqqIK5yQo5lV0EPiDYM4cq7x9qgABkByd1sWG', 'TqttqfiH78eIYICGGIO49bewbshit8LQzj1VkUoJz1wy']],
  ['mem0-key', 'm0-', `${ID}{36,${MAX}}`, ['2FLmhqdbMJM0tCA4vdnqoby02gaasUcn1QCa', 'MWFG2nZyA57GtB9IRHn4cBFJNhIKGYRGftaRupba']],
  ['runpod-key', 'rpa_', `[A-Z0-9]{36,${MAX}}`, ['0RIBVHQ61RIWKZ04G53DTKEJ3MZNSQNVPFSL', 'P24Q3A9G94JR41LPVMSU86WSIMIUYKH6SH346FKW']],
  ['apify-token', 'apify_api_', `${ID}{30,${MAX}}`, ['vpJnQbZ18n9UhA0nTKtG01rPCeJd2y', 'heO9fCZW0QBHWsrAZALiYhQp2HXsdgHAGV']],
  ['browserbase-key', 'bb_live_ bb_test_', `${URL_ID}{20,${MAX}}`, ['rV02u6q1HBt6cQ0IzJYP', 'jeSzuukQVH5UfoW6t84csgtu']],
  ['logfire-token', 'pylf_v1_us_ pylf_v1_eu_', `${ID}{32,${MAX}}`, ['jc6vaqfWsupKlgwdFhbezgpAOb0y0GJD', 'hRDMcFuZqJlvFsvryJlamJkXr4Hwnbtw1SzL']],
  ['google-key', 'AIza', `${URL_ID}{35}${END}`, ['DMAuo4znfytajltIZCRrxv3LbFtMnPo52Bi', 'MllKHsl4XEMyqHLiZ5JF19rUyfIA1BIBTPK']],
  ['google-token', 'ya29.', `[A-Za-z0-9_.-]{20,${MAX}}`, ['GirkwcKpqotjTN0Wrzpc', 'afQscNJF2g0bn49DRYrOlnKS']],
  ['google-secret', 'GOCSPX-', `${URL_ID}{20,${MAX}}`, ['FH3lLrGrVqCUVudXaGNn', 'QO9PiQxVJCHjjNuddunkvK0i']],
  ['aws-key', 'AKIA ASIA ABIA ACCA', `[A-Z0-9]{16}${END}`, ['97WJUFQ0LQL0HJNH', '2KIF0RMHTKBYUCHU']],
  ['aws-bedrock-key', 'ABSK', `[A-Za-z0-9+/]{60,${MAX}}`, ['9mLK4sx7bMbT5l9clDyJB0NXyg2iWbEVmhAiFK0B54STGZ78OPMyhMwGFnN9', 'eW1ehCu3qMUp49yd6cQYHg9maocrqV103pYZUa3Jd2IsTMOrvFZTGamHg9TxH7Hp']],
  ['aws-bedrock-key', 'bedrock-api-key-', `[A-Za-z0-9+/]{60,${MAX}}`, ['973M5nw1hma39emfsHFok9caE4BEpb4Sc6btolHzubrVOJ6gPLsOUOV3i4CJ', 'A232uMErUUhTPIQRbkRCTlEPZNmTVcc5Jg6ltNT0VWk1UU3IVtcdZa5vZfLwqTPS']],
  ['github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', `${ID}{36,${MAX}}`, ['P5SFdFJYIyRYZpc2hUaT4OCMyiLvXmGkcYM9', 'kUwY3WTQR8dUtp0Jgf4EbzGuheTMEl1wfsPPvlAq']],
  ['github-token', 'github_pat_', `\\w{36,${MAX}}`, ['P4Rm4sdp7B1ITMsu0sqQKmSaDDENaOW5dLsP', '5F9qxd13voqCpoDt1A4rtGG1kfFyQOHkX2GUkSTs']],
  ['gitlab-token', 'glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- glwt-', `[A-Za-z0-9_.-]{20,${MAX}}`, ['5tJWoyjo38q3z8Ty00C1', 'DYFGhMIVVqsVgZzxYB1JXEzL']],
  ['bitbucket-token', 'ATBB', `${ID}{28,32}${END}`, ['BrmSpRKKZXC21SEjBVzQpPvRXYpW', 'QKo6OX3IB1YFOiopyIZvE20k5zU8rshg']],
  ['atlassian-token', 'ATATT3 ATCTT3', `[A-Za-z0-9_=-]{60,${MAX}}`, ['nQKgLYRarz8pjJXqOdTDsheC37hSXi3mCaZxQJuvX9OQ68qdt0N16umpVUgx', 'kWEWE9pGCmw5WZXRvXSxxv9xI14Gx31XcZV6IUuXz8GrUAqNjjBYNmSAYQfiy1jn']],
  ['slack-token', 'xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xoxb- xoxe.xoxp-', `[A-Za-z0-9%-]{16,${MAX}}`, ['4WeTYiF0t0escLhz', '7IuXmeUOm4oidH6GnVKc']],
  ['slack-webhook', 'hooks.slack.com/services/', `T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/${ID}{20,${MAX}}`, ['TKJRUKH/BWUBD3E/PXzRwMMxFWnx9ctL6N6F', 'TI0PBYBEUQL/BT8RYIE4IOQ/8V9qMQfb2q4CHuUNIEQHBcWr']],
  ['discord-webhook', 'discord.com/api/webhooks/ discordapp.com/api/webhooks/', `\\d{15,22}/${URL_ID}{40,${MAX}}`, ['315332438625617/CqOw3dejki5wjCpUxtPoToA5fs0E8EBl1KIIMnta', '3181915769758861126/vBoxczd8eU4055Ts8ozvPV9EqnHcQtPZ4PaP8ATjAE8x']],
  ['telegram-token', ':AA', `(?<=\\d{8,10}:AA)${URL_ID}{33}${END}`, ['V355MPT21CvtUf3eJIxl56KneTsFuSSfE', 'YtXmSDgdzPfuaZrmajKEP9w6okNDDLpWO']],
  ['stripe-key', 'sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_', `${ID}{16,${MAX}}`, ['iI1OHONfu9S7jNml', 'O8mE72FY5czQh1a6FH8p']],
  ['webhook-secret', 'whsec_', `[A-Za-z0-9+/]{24,${MAX}}`, ['5jbHkA0p78DsGglsgHznQ7d6', 'QQV6AqTaQQ3Xty4B7aUWeNwSSU2b']],
  ['sendgrid-key', 'SG.', `${URL_ID}{16,64}\\.${URL_ID}{16,${MAX}}`, ['4ssWcBWTYHA4bxVw.zUG5WRMbCdi1HS4M', 'G5HBMlpif9DUGLPfP8Kb.fvMh3ECopptqDD5KYWYs']],
  ['mailgun-key', 'key-', `[0-9a-f]{32}${END}`, ['a483c95577c6d8f663cada55026f045a', 'f44b1bed28c0d1939d672271406561ac']],
  ['brevo-key', 'xkeysib-', `[0-9a-f]{64}-${ID}{16}`, ['f6611cd311a9ece89453f765e4cfee285f7ee02ead2856e6a89a03a7a1cf6850-N1sKoctGnRhazcFr', 'af44df42bce16910ff8b588b0cc3e20152bd008963354cf781aebba54a352801-elWzfYnBykiJGGtZ']],
  ['twilio-key', 'SK', `[0-9a-f]{32}${END}`, ['3804d5530cf1f889722fe746c6539bf4', '932fdb6d219f7f77fa731e1d49192353']],
  ['npm-token', 'npm_', `${ID}{36,${MAX}}`, ['FB93XB7g2bhEPQPUdaUIXBSq7XYMhdGScrC5', '5m6BWLBh4OLgE7S2WMbQCT7eLAFuVWDT8Cq6GEO4']],
  ['pypi-token', 'pypi-', `${URL_ID}{50,${MAX}}`, ['UbQe8P8KoEV65zoVFOPaaoEP9yznKuM4y6furECPN3Lu8naKSc', 'xVgdkNvMw4ykZ1nyIxaATOXyhRP6bhxEUcjXufIrLvVkpNVQAsPOKL']],
  ['rubygems-key', 'rubygems_', `[0-9a-f]{48,${MAX}}`, ['e0ec9d7e4b7c629059101ecc58d5e1a8b57a1a208a30ab30', 'cd3cf79498ae74b5c317f81b700a85d5689701c8a1cc63288dd0']],
  ['docker-token', 'dckr_pat_ dckr_oat_', `${URL_ID}{24,${MAX}}`, ['Gf34nzZJaze3X7E6wxGrscBr', 'IWOr2ZJfe609B24WDeysKTPCNlyF']],
  ['clojars-token', 'CLOJARS_', '[a-z0-9]{60}', ['72d0m0fuxp2o5ijtxsfujmxdprssvms2rvmajyh66pjj5cwra5ukt7906168', '75ggdh1nzzzjqo0v02ayvbtfxa03jsz4bd7ny7m2ydmsf04f4ij8ldodyamx']],
  ['digitalocean-token', 'doo_v1_ dop_v1_ dor_v1_', `[0-9a-f]{40,${MAX}}`, ['a797b09d4c65355d102d3d66da85a714b1ac6d62', '4a749a64d098840170891d8af78c4daef0c00da1ab2f']],
  ['shopify-token', 'shpat_ shpca_ shppa_ shpss_ shptka_ shpua_', `[0-9a-fA-F]{32,${MAX}}`, ['3f2868c5fda368A69ADf18e1fC91447d', '03de5e478C93F20f5f0F8Ac1cCDe633a7Cd3']],
  ['linear-key', 'lin_api_ lin_oauth_ lin_wh_', `${ID}{32,${MAX}}`, ['y2n7rB10wTiE1fPFZhHBv3WxHtsw2e8D', 'VJq3ks9rh9qTp3JXd3CLol6DI0lJtpFrwfG3']],
  ['notion-token', 'ntn_', `${ID}{40,${MAX}}`, ['mDTtcHYGgyY6rbGL3j8VdpJwxydENTiCsKgXLuoS', 'VYnNJltnsDktWnzBYvcQDDpXC646BL1HufnABPYMrMr0']],
  ['vercel-token', 'vcp_ vck_ vcr_ vci_ vca_ vercel_blob_rw_', `\\w{24,${MAX}}`, ['snlXf7TrvDXoRezJkfxJBJSc', 'lbxyhxnJq0hMNeT4UYx9c74yr1SO']],
  ['supabase-key', 'sbp_', `[0-9a-f]{40,${MAX}}`, ['5d298639397e98fb0bff7a337012f5f722aa5757', 'a2968fe6ee55b8c7ced545479e8eb112511f647dcdc3']],
  ['supabase-key', 'sb_secret_', `${URL_ID}{20,${MAX}}`, ['mfcij0YC3DhJp2PhaNNf', 'rQSFdaG8bNxef8cQI1QAnNpR']],
  ['planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_', `[A-Za-z0-9_.-]{32,${MAX}}`, ['TRXDN9QY8EAo2hoDllf6PMbKCc7eqouv', 'HPgnwIWsl2JmPmwalFVX1XsuoQkDB1bSBege']],
  ['neon-key', 'napi_', `${ID}{48,${MAX}}`, ['K0SX6B9HfLyR7bGZi3En2snR3lqKTRZrKyaQ6fhnQvcq77Qm', '24aeT24TSvkYwTUi6bYVZelYfWkge5FJuVdR2Jirv9AmMlSenw4Y']],
  ['doppler-token', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', `[A-Za-z0-9_.-]{40,${MAX}}`, ['it9BpotHcMoMjh15IR0K2PcDHi6FiTDnA9z9MCHg', 'ZLNDIrIYuB4LiNXsFV202fBE30xhe5yeBCaSXF7LKTeh']],
  ['vault-token', 'hvs. hvb. hvr.', `${URL_ID}{24,${MAX}}`, ['IAlofGfucrH35hFc9us8CEFq', 'jACs5PKAqMyM25zR9ybdVjWfTgDd']],
  ['terraform-token', '.atlasv1.', `${URL_ID}{60,${MAX}}`, ['A8NdLwI9V5PAt5AJWkX9aKXYcifkSr5xx0xn9NH6gC928WHEij4XmPYm2j76', 'AGEEa5xpRoEZOSDtasFYgn97rfnASdbkrQ0lfIAIMIU8Bd7o7bX936uSKi5OBRMH']],
  ['pulumi-token', 'pul-', `[0-9a-f]{40,${MAX}}`, ['2f103f8aebc799d93b841fc6f871b41f88f6d1cd', '58901dc6f37965ca7b6363d989cda60417375a6b10ca']],
  ['fly-token', 'fm1_ fm2_ fo1_', `[A-Za-z0-9+/=_-]{40,${MAX}}`, ['1Ou9EJUR3RWS5DnrZF92q4quyxcbPhI8KcQkdIi4', 'UcQoXwOBSKdNHqU9qiYRRTpOLPK2qEYhVyzpUjlcKQUQ']],
  ['heroku-key', 'HRKU-', `${URL_ID}{36,${MAX}}`, ['RlLPrxHV3f94sMPxD7X7a7IE8xi1ztBZIMtI', 'Nto8adMYXZ2IZe3zr4ubAZv8fG7GrO7tsYGzj5I4']],
  ['netlify-token', 'nfp_', `${ID}{36,${MAX}}`, ['nzCbLrsbqD8IhIQLy44x4Z1dV09jaNEh0Iso', 'nDbSBaBXjtjJ7hON5I4By5gXYqB0yXzd4D2xuUek']],
  ['render-key', 'rnd_', `${ID}{28,${MAX}}`, ['rCBCnDzfqVUBA3llNAy61BC1R44n', 'hR0cjksqKwstZTgt1RTXcoSbBNxC5zo1']],
  ['buildkite-token', 'bkua_ bkca_', `[0-9a-f]{40,${MAX}}`, ['542c4d439195f707cc98fe9c969ba0be3277646f', 'c72d9662da43797cbe7fc2708d3e59be858af8c8a734']],
  ['circleci-token', 'CCIPAT_ CCIPRJ_', `${ID}{20,32}_[0-9a-f]{40}`, ['rA0XM8DJkdgkij30sAeD_ed75417aeeb319b02903fe89a10d4db74302740d', 'EHLusi1k0YZsxKuvbR2wGCpD_097c517e47a3d3f1c55e45bc1fb2f56a0dbea88c']],
  ['cloudflare-key', 'v1.0-', `[0-9a-f]{24}-[0-9a-f]{100,${MAX}}`, ['0c9cd7d5e2c3a359d638ba7a-aa6c853ff0900cb10484d64bf3b7c6290da500091cdcddd1f91964e237e1d8dcffdef06e5b1686ae7eb7f7706e4333e75ae4', '22c3c85826509000e083e9ee-c13d12763ba9dbac83af2a3e3fc150f71c1e122a9cd5efdf441ad78d51c032bb7951e216ee7f69c55ee4d92128d561fb3769cbd7']],
  ['cloudflare-token', 'cfut_ cfat_ cfk_', `${ID}{40,${MAX}}`, ['IZD3ABjkxQrXMtzbiB9MHl7T3PbjlYtepb5S7RbD', 'vAuclsv0ocehyXrEcBno0y8bjdPQbYbREhBeaV5Eiw0d']],
  ['figma-token', 'figd_ figo_ figu_ figr_', `${URL_ID}{36,${MAX}}`, ['Wi5CMUlQDAMlFKLRI5OXlGOpckRIXxpeUklV', '47C5wiBzyGY3Pk9XngU9CgKysZpCnbSwzH57rd2O']],
  ['postman-key', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}', ['c710184fb2288de512aa5acf-c998a5dbddd290604a680755beb1e71d79', '1caa13c0f09ffa0715035533-cb5deb317db387ef13b1b88c9adcab7dc2']],
  ['newrelic-key', 'NRAK-', `[A-Z0-9]{27,${MAX}}`, ['D2CKFR3U9LM0AIOJH4UYAMJYQ9L', 'J1QLELDWJM0OBBJ7V372Y4FE2B4Z6TF']],
  ['newrelic-key', 'NRII- NRJS- NRRA- NRIQ- NRSP- NRBR-', `${URL_ID}{16,${MAX}}`, ['nyr4Bxh9MsUtkkTX', 'FD4sUjynBdgrnz4Nh1kI']],
  ['grafana-token', 'glsa_ glc_', `[A-Za-z0-9_+/=]{32,${MAX}}`, ['oGfPhzI9JyO3Z7ycROPvA57n6SUaiI6F', 'AmP18tWc4YUefUwFs9OfuhefKqM3wYML7b4r']],
  ['sentry-token', 'sntrys_ sntryu_', `[A-Za-z0-9_+/=]{40,${MAX}}`, ['JRPuPEaGGZbtZMJ9n3GMnu2Lx0nKYPxW83BthPlo', 'OJigQqOnxGDkLoAEtS83B8dMTUqtueCXAQlGqhBXtpEM']],
  ['posthog-key', 'phx_', `${ID}{32,${MAX}}`, ['R22wBxcEF9aqSxkcbssW8I5zbzaDzqAP', '96KB39GXdMnzBkYBxogBinidv3IOMELUkeGE']],
  ['dynatrace-token', 'dt0c01. dt0s01.', '[A-Z0-9]{24}\\.[A-Z0-9]{64}', ['UB4U2KIFQRHZLC86EJ5O5LEY.48G5CN78OX5CTEEYCEAOOC6B9DLZNPODOZDKXDE0WQNRQKLHO8Z6OYUN0H42W3U2', '533QFIWIH2HNYBNLTFD3974V.4DMCURI0TKH7IH262KSFFJE64R61L5CPOAMA0Y41F2M5BVC9RT4279D4YGHBMCM5']],
  ['honeycomb-key', 'hcaik_ hcbik_ hcxik_', `[0-9a-z]{40,${MAX}}`, ['q95cl05biy2vrpwbuyzatmqvzbwzrucgldcx51eg', 'av9nxv0ogy70l4ztanbz04tzsx6ztqavi6vp1nrgu70c']],
  ['databricks-token', 'dapi', `[0-9a-f]{32}(?:-\\d)?${END}`, ['370bb73c6ceb46fd166f168d1fb61dcc', 'c46f0d7182a93ec9533ae886b623e2f8']],
  ['airtable-token', 'pat', `${ID}{14}\\.[0-9a-f]{64}`, ['Kb7QsHucbpw3Bj.8f1d39a5232c19e8c452a81655a387b4dd4070c3039c011bde59022259d9b7d0', 'PyCz6K32zIT9oR.68d51c17830be576855b0f74481a6f41af70ce18cd14747f66e7cc6263452bd7']],
  ['hubspot-token', 'pat-na1- pat-na2- pat-eu1- pat-ap1-', UUID, ['71434300-9ae9-776a-9dc9-53ff3b0f8225', '167a0676-1253-2f8b-daf4-c88c6da25e16']],
  ['contentful-token', 'CFPAT-', `${URL_ID}{43,${MAX}}`, ['oGKMRPglDFF7bD1qMmYKMNFjM0GdXAIzOJiRe9jBVTC', 'lVlpGE7Yq1VbJoCYg0a5jzJwnHQwBF8vIvArPy3c7rrP32x']],
  ['typeform-token', 'tfp_', `[A-Za-z0-9_.-]{40,${MAX}}`, ['8yQmxjl6GBou5n9LgaQqOht5cbKEdzG8wNcIM7PS', 'u2BZDtEb1znCuen4SnRqkOelPbj3kupRYBadXaSVuM7y']],
  ['square-token', 'sq0atp- sq0csp- sq0idp-', `${URL_ID}{22,${MAX}}`, ['ilbog6aFfVt8rONfH0Hceg', 'syE1Z7bGG64dRz0lMFIUn2TIXS']],
  ['square-token', 'EAAA', `(?<![/+]EAAA)${URL_ID}{60}${END}`, ['8neQO0aa4abJZrmpmDHFJzUW6lOK7RDsdORZ4bxiVSlrIUnNeqySJzKcMOhw', 'qDDgbtzOxC8HMhgbt0gggWLFWb1dGUq5b6Xd5HphzvTcxdSNlrbzHWwtJB9x']],
  ['facebook-token', 'EAA', `(?<![/+]EAA)${ID}{100,${MAX}}`, ['ZqyRjZM7cQKVXrphooRMwXpDcHgQhCVlDDHnVDyU7CvZUZckviWnCfpmghuGbQRIfQNemoKB6kJZh6Uk1t8jWZZt953gTD3OObXL', 'ZNeBytfipFZvdb4KzCy6tLk0UahRMPorzQB2CCkyp31nkkoPV5xkZtJS47Qk7uWomoLZM4L2hmT7rUKsXJ7uCjd8AP5ExNHFqJjz59N2']],
  ['plaid-token', 'access-sandbox- access-development- access-production-', UUID, ['eb1815d3-0b4b-651d-aa02-a25f778977f0', '39088a62-02c1-0bb5-2cf4-1a66594b295f']],
  ['adyen-key', 'AQE', `[a-z]{0,4}hmfxK[A-Za-z0-9_+/=-]{40,${MAX}}`, ['hmfxKU75IshyouTP3T0by1EUUoXqtZjw2YvGWDIcd9xph', 'xqqkhmfxKoprM8IH2q2FehJe3QNy5bE7zqeNkYbycYUe9iowLLGgZ']],
  ['mollie-key', 'live_ test_', `${ID}{30,35}${END}`, ['vH3ONjMbZRZVKDL9qP4URs06VYiL2C', 'SLEYwV6WaEswIZnmP9UqAkxdyjl5nj3wmF'], isMixed],
  ['flutterwave-key', 'FLWSECK- FLWSECK_TEST-', `${ID}{12,${MAX}}`, ['xSwABlY1WAX3', 'MVJUgA0pNMMubdZq']],
  ['shippo-token', 'shippo_live_ shippo_test_', '[0-9a-f]{40}', ['484a54ff53857016e9fe3a792c2fff8207828874', '63d41eb7b168cd8cd5c5d5ec2a93eabc1ee50306']],
  ['duffel-token', 'duffel_live_ duffel_test_', `${URL_ID}{40,${MAX}}`, ['XvejupImSgCJYOyXtZ65klxBuutHUdOBl3KWX0DF', 'PbmLjrnNXhWQ1znx84hX8qWnQIg8IZqLauYdwvLlRbrH']],
  ['easypost-key', 'EZAK EZTK', `${ID}{54}${END}`, ['u9cPviaf7mXWkXECpcoYlyK6Yo7MVUPZH4XSKWYLH5qO6yoETrNHVU', 'GpOgvIiPGNQUTu3JilPVaWCDMcgfd0Fnge7ldq8ZQC3IcXSQd898H8']],
  ['xendit-key', 'xnd_production_ xnd_development_', `${ID}{24,${MAX}}`, ['lLAp3SqNQ4ssZwug2sfi6vHH', '10DTcYI6YgCtVKJtfn8wW5sJ56ZH']],
  ['alibaba-key', 'LTAI', `${ID}{16,20}${END}`, ['Ut28mI27UIAqiZvZ', 'vZevooJZmyWTylUr7cjS'], isMixed],
  ['tencent-key', 'AKID', `${ID}{32}${END}`, ['ksKvAb1L1uVcAvXAHRIbYukBBq64grZr', 'eUvzTcIB5YzqyInot7OIDiLiIMJW1SWr']],
  ['yandex-key', 'AQVN', `${URL_ID}{35,38}${END}`, ['8Twzun9VOctvJ8ZBdI0czL8xpkdQ74Z43Iz', 'vR80mgU5v3vVZKxSehdTJnQj5POUgc7HA1PcGN']],
  ['yandex-token', 'y0_', `${URL_ID}{50,${MAX}}`, ['Q6DUn9XJM0JOG2nCLZYbGFHSAeiH3l3CHEVTYffpUzq9xfRbLN', 'M4Sd9JzOWbEZ8xkNHRZ9p5iHJGj3ysptc9JlTerhMQNhXqrChwy7Em']],
  ['dropbox-token', 'sl.u.', `${URL_ID}{100,${MAX}}`, ['HnC0wYtOhPnSM1C8Z9GZH3O7PiRpDBFirW6v2Dgan3PRi3TMHPoqyPNXN3Cjkochhi8wRmHsZRZNTkGPz73ApPmElmhbUoYIukKe', 'BXoHIhQFOwgashiFzj3sNKR1woH97Us9zJVDnK4Daz5RYIiDIe8GZZIPt5IG224dRe4Ijb6kvKGvCJ7KvnoVjzCX7zl0CneQH5AZoQFi']],
  ['mapbox-token', 'sk.eyJ', `${URL_ID}{40,200}\\.${URL_ID}{16,${MAX}}`, ['WrGQhc3BlCTxGfrhqtDTqw2rC8H7FCm8g8sQdzDT.Hda4VBI8N9qnpGgf', 'cH47LBJvZITl60E04IGo2MmxmMIZzwaeJc5bU8uMX7BS.d4AqwVkAANYbRxNQNaZd']],
  ['tailscale-key', 'tskey-api- tskey-auth- tskey-client-', `${ID}{10,${MAX}}-${ID}{20,${MAX}}`, ['fcKH0YF7QU-xYpBMGzrMhxbd7SJtVMF', 'Gq5JsKGgP4F9Ij-XZKiWbNTehtU7D5oLH7p4BQy']],
  ['prefect-key', 'pnu_ pnb_', `${ID}{36}`, ['Kb5wRcWL0bKFw5FJtcU09cQjZN1e0f4dw3hD', 'jvkKUIeKxjarahHVHudoxwCgBRwD1vluklmG']],
  ['readme-key', 'rdme_', `[a-z0-9]{60,${MAX}}`, ['q1ls5tiof73yo8hhktpi06ngqud3zkw912f8gxnzqhilwncegy45e9wp3bbk', '67guynmker8udl6axrcakbzjwjir87i60insyxexm8h5fs2hd3ukqs4bdkwxem8y']],
  ['snyk-token', 'snyk_uat. snyk_sat.', `[\\w.-]{30,${MAX}}`, ['impKikoe3J1mHUZ75WztSJWQqtwwxm', 'FJvEsn68KDOYlEVmMehUxCj7rFuax3UG6R']],
  ['sonar-token', 'squ_ sqp_ sqa_', '[0-9a-f]{40}', ['ac27e4e6b80e3e41ccea0de1f029fcf920311313', 'fb2de3113bf18d40426b42de0d7034e93050f3b2']],
  ['sourcegraph-token', 'sgp_ sgd_ slk_', `\\w{40,${MAX}}`, ['8nOt67w5C7I9g7OVXdOxJmNVVMR17bZJysgEzaAg', 'TmwuIMPkC4fk2HAuqHMfvqWA5PWMftQpK6AOkKhsYHpT']],
  ['launchdarkly-key', 'api- sdk-', UUID, ['df73e015-91d1-26f2-e445-b3a6ea74f9ed', 'f21857c2-fcdd-31ed-a616-bdf67aaeaeac']],
  ['age-key', 'AGE-SECRET-KEY-', '1[A-Z0-9]{58}', ['1A6B2ZQFT7YCULZ3EQVQB84W1JLBOE2YM9WFCZRWM3VPF8N3V7R82SGMRT6', '1SBQUKE8E9SKHZEQ0NYIB6RAX89HTCF7YLM9DFGT2ESLS1L43M8FHNIZ5CK']],
  ['onepassword-token', 'ops_eyJ', `${ID}{60,${MAX}}`, ['LJFHUaPqVyJ3UjAAjO6XFcWQPshe4WwzFMnfcVnifYP3cZlz9waaOU6P5RZc', 'u8Y2C5MB3gQwD3BrEtuSqnzoUP72RNIdzLDFyG1o6qo48fuknXTitbXPgWdiyRn3']],
  ['onepassword-key', 'A3-', '[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}', ['55OFQG-HU51CW-5DIMI-2U02D-3XXUL-0RI49', '0N1F0E-ZVXCU5-G9Z9N-50EYA-DIJFV-BPU0M']],
  ['artifactory-key', 'AKCp', `${ID}{60,${MAX}}`, ['c4RtIz0qievkLeYU98nChCHuFvTTJ0tE8hTuh4MKTQETEIiUbWiK0pqW5ouW', 'M4bdtMeYBTSSkoqAlHXT6bQmBEFDZFVrHWUFPaBHJe3VZdIXFnmPcmH4On1PuQCN']],
  ['resend-key', 're_', `${ID}{8}_${ID}{20,${MAX}}`, ['9EtTNSFO_bMVso6z1vPpcFaSmFphU', 'cKRAReDZ_K0nyoDeY0CW2n6upikKRMBN4']],
  ['inngest-key', 'signkey-prod- signkey-test- signkey-branch-', `[0-9a-f]{32,${MAX}}`, ['8bc528036e602e3e6366ed7ca8901e9f', '2a927aa730effd1d014956badce2fdab20b1']],
  ['trigger-key', 'tr_dev_ tr_prod_ tr_stg_ tr_pat_', `${ID}{20,${MAX}}`, ['qpBeuU53FlfAyWNfwq9r', 'exuOUrKCe0ERSDgNfQLDXqsJ']],
  ['polar-token', 'polar_oat_ polar_whs_ polar_pat_', `\\w{24,${MAX}}`, ['QgCOi5YZhw3bj6C8F1NsXKVj', 'dJJMUeoINseKJXOa8CqHTVRkESyk']],
  ['paddle-key', 'pdl_live_apikey_ pdl_sdbx_apikey_', `\\w{24,${MAX}}`, ['3tMQQfzWvUFBLhaxIYU1BBxn', 'x0hEM9eQnIRn1nWy7YPgAEYdHaUr']],
  ['mongodb-secret', 'mdb_sa_sk_', `${URL_ID}{24,${MAX}}`, ['1qJIqRUrPRv0JQtiXMJXzOMk', 'owwWCCnXSOWQQsW4FTRZkOeYHbTz']],
  ['aiven-password', 'AVNS_', `${URL_ID}{16,${MAX}}`, ['7Zo2lsTyjum0ugDh', 'n3ZwDy89JoxbIgfbTe0H']],
  ['axiom-token', 'xaat- xapt-', UUID, ['ee290f91-691d-83ff-3cdc-ba6764663745', '90a607c1-823b-40c5-4ef6-0970ce076ea7']],
  ['dbt-token', 'dbtc_ dbtu_', `${URL_ID}{30,${MAX}}`, ['CchwyBifbwRqW30NgEcip4rJhICJiy', 'VU77B8cVH5mQFz9wYbg0M5ZRD8bs74vPSw']],
  ['deno-token', 'ddo_ ddp_ ddw_', `${ID}{30,${MAX}}`, ['R0cxk1QiBMHmwczVe8NGPYNPgEaF76', 'Wdf006hIJgTgiZUevgKTNhN4THOBqBBFd9']],
  ['scrapfly-key', 'scp-live- scp-test-', '[0-9a-f]{32}', ['685e652c9f64b81b53f294c91a257922', 'dcf92a22736e39936512104bec995bfb']],
  ['amazon-secret', 'amzn1.oa2-cs.v1.', `[0-9a-f]{40,${MAX}}`, ['da3070d8e883aec5936c4269680d064c1cc3cb94', 'fe98c36905cf444d9edf34dac1e76562939ea333df3c']],
  ['swarm-token', 'SWMTKN-1-', '[0-9a-z]{40,60}-[0-9a-z]{25}', ['et7fb6ww6u4omhsocfxccsec0rokn7g4mfsg5r2r-ufqxt28fcnnpdcx71yniresdp', 'd4l5vd3biknwpgmgxfif0mfnfsj56hr79qnh8tfgjaie-tns18ronjl8yk70xpif9ncdjg']],
  ['clew-token', 'clew_', `${URL_ID}{43}${END}`, ['Zfcu0995fY7noD7hEUkMtHymrT67pXajuylwi9iKTss', '9JlbNHsz8gB360sWCBD2Kjbu7OgT9bKJqz6ikSZwnqC']],
  ['notion-token', 'secret_', `${ID}{43}${END}`, ['2LzWsnGq7Ina02dSLt28TowSdkbE9yAbr0fY87SbX1R', '5PvQrXNm8298QrJfHXUn4QEnCBbjKEBsFMbHlp8lYdl']],
  ['gitlab-token', 'GR1348941', `[A-Za-z0-9_-]{20,${MAX}}`, ['dBAzGEC7KZEYzfFhsxyG', '6QwqNTk1xNOB1q3jhCRG8UQB']],
  ['gitlab-token', 'glrtr-', `[A-Za-z0-9_.-]{20,${MAX}}`, ['99yTcQbzFfZzVhHOEPtt', 'zTrmnec7AaRzaemZj2T5UD0Y']],
  ['openshift-token', 'sha256~', `${URL_ID}{43}`, ['QV6JnXISDOGBd6VU3Hbs2J0UzhaGQEROb5Wr1YWyMdX', 'lEvYYH9DF7hpaU68d2XbMuXi20zTpzhPKZti8JDdqK3']],
  ['dropbox-token', 'sl.', `${URL_ID}{130,${MAX}}`, ['6f4W5mqgUkyhmTx8zHWnxELRWAXCvS5CZrQflt26dnqSDvYUXjbTppWxk6y6JQCZjw9d5YNMM93obhywOJNt0kuQE7a1o4tJNzGenpLiH9BIPwMrewe7MhVLt8ovJoOv1G', '2gSin7FXkgrmX35XLpUOcA8rj1OcNfi5Rz0H8ismxijhm6l1G9L8ooJqzEtPJyYvaH54CpoNAxA7E9hLdH7H3UEzPipTodVNONdBs7rrG6xPuIefJT06EaDgptOepkQHGUG21R']],
  ['fly-token', 'fm1a_ fm1r_', `[A-Za-z0-9+/=_-]{40,${MAX}}`, ['wz37yzkvt3q51ZWEEosw89tXDZFCWKMVtIZ0KyGv', 'YeP38J3yEutZGmG7gEIVKXjCpzIucMueJOZZYYna3Z17']],
  ['slack-webhook', 'hooks.slack.com/workflows/ hooks.slack.com/triggers/', `[A-Z0-9]{6,14}/[A-Za-z0-9/]{20,${MAX}}`, ['Z0QEJZ/tB6DtgZ6zUaqIivpQt8G', '37HEE5325Z/nqYyZHmvGvRxP8wQSEJwe9do']],
  ['sonar-token', 'sqco_', '[a-z0-9]{59}', ['ibvels7eyfda5b95macuzdjv2wg7gqt8dgbjtqgj05dyzn1lbbxmdeq706y', '8oupg2la3gz6muqt0uicr610wz510sy8m7xcmxvldqlq009qy9t1ix961ih']],
  ['figma-token', 'figp_', `${URL_ID}{40,${MAX}}`, ['frOazdjujptPz1Hc3t55EvVTt7ww6sUEWGVQZxnr', 'sFR2ZXnI97Bmp69KoOE3UvrjtvYxh8Tdfoo0HY6nBW0C']],
  ['octopus-key', 'API-', `[A-Z0-9]{26}${END}`, ['QBLG09Z0TYTMAIWUMBB2IKYJLF', 'ISJ1EGOZWFIKSO0QG9JHC5UN6D']],
  ['infracost-key', 'ico-', `${ID}{32}${END}`, ['Q6yRcjYi4dMDwGD0zDreloXUncomtWhO', 'vMZtVBwWR9uumZyai1nvZxigeimXT5k6']],
  ['adobe-secret', 'p8e-', `[A-Za-z0-9_-]{32}${END}`, ['kGzqlqQNShHOEJIXCX9V4fjYELmanhCY', 'LI0oZGQkFyFhsLhoBD3agrwEG9NxW1t0']],
  ['scalingo-token', 'tk-us-', `${URL_ID}{48}`, ['LSh2RwoKbn4vLoMjjuEjDEzJGqlsAxdeqhUhnfc7pcIVTA5K', 'qn9Khmv8babP2PwQpKGrnHevRfJ7qj4psvy4IgBk7TWiWe0E']],
  ['settlemint-token', 'sm_aat_ sm_pat_ sm_sat_', `${ID}{16,${MAX}}`, ['LeFRuUasUVrgN3yo', 'saFcaJJdJxFzxAWVkXdq']],
  ['intra42-secret', 's-s4t2ud- s-s4t2af-', '[0-9a-f]{64}', ['7761f640da1a98cb3f1d21526235d6c7bd793eb0761b843515c292dc6207153f', '38bb3ce0028042255e2a48042b6afb129c16dd1e1b5ad6286d9c78e0b24b30d5']],
  ['rootly-key', 'rootly_', '[0-9a-f]{64}', ['7e1b885cbf84ce650dd9c99bd68eadf99a2b96bc6f91a7907d1e43d4ebbe7ce5', '7c85b998833d0ac4c9bc41a659503392c2e04aae7a401148372de454bc65c41e']],
  ['ramp-token', 'ramp_sec_ ramp_tok_', `${ID}{48}`, ['XO9NUdQhINLvUeXD0auvsYjwNWASBQk613JZpqD8X8yzrxpR', 'ewdA7lCjVxHbfvr2B7ANpI6YyJJJ2PHhXt5rfnKoOsffj17g']],
  ['voiceflow-key', 'VF.DM. VF.WS.', `[0-9a-f]{24}\\.${ID}{16}`, ['b8c58f98dfd0dc708ed9a51b.JRvGxPj5rRf7PZxj', 'f8dc2c91cd586944d3f8f145.3dgT4fVbq3NuLliW']],
  ['adafruit-key', 'aio_', `${ID}{28}`, ['gHmMMW9SJu9U5xvjy6FH4CTjEkkD', 'O5cbc82bUAc3mFl3hVslrUdDBKAs']],
  ['google-refresh-token', '1//0', `${URL_ID}{40,${MAX}}`, ['VEDX1xtIyYqPU8F8jkiDJW9yTEx9eiR0bGItAQIO', 'MtBS1gRa9D9j1yzm7gs8yyKllbQAfKinXXR0EfSvg925']],
  ['aws-session-token', 'IQoJb3JpZ2lu', `[A-Za-z0-9+/]{100,${MAX}}`, ['mKYNDkP4N92tomEKDrIDoPqWOR5k8og7zUftTJH5UpdGYh7K3HP24bqb2DztRTqDDChZxm1THzH3YNgymB49ysepThYMrfP6zFvK', 'FTnxET5y9MPhgDgd8gaM4wiBSQ8RqXj1pRWu2ketrhtl3odsKOLoBTlahbN1I1Yna8Co5lePg8z7WI31KkNpueyXiTt6DiQlacGzvL7a']],
  ['fireworks-key', 'fw_', `${ID}{22,24}${END}`, ['J4CFUxAjLDZc5ChLV5W6ML', 'NyF8UWimqOSqCZfb065CE1Mh']],
  ['brave-key', 'BSA', `${ID}{27,28}${END}`, ['4vYKjK85SqqOiDHKVX0WUPWm5oY', 'tr0RIlA6WEnJgS3JTWoD0tjoLtpy']],
  ['context7-key', 'ctx7sk-', UUID, ['991c8186-ccb6-8363-6053-d0d7ab3b33f2', 'd6413261-60c7-6e15-3987-181f26c9a9e2']],
  ['sentry-token', 'sntryi_', `[A-Za-z0-9_+/=]{40,${MAX}}`, ['NOe24sfnnGNDIkMEspRLOKdTAQ9GAKVpYA2Mxbr4', 'Sl95x9MqMITlV9htwTuBCaD5Q1Bn6zzAd5CBJ8TpxZMb']],
  ['volcengine-key', 'AKLT', `${ID}{40,${MAX}}`, ['f9r40rSHOCJkJWHky16pwBZrwmmkEohksTylnvRn', 'NVoGNfpvo4x5DAoQQSrVsx6l57d0ajhmUAhKqPWAoFuZ']],
  ['grafana-key', 'eyJrIjoi', `${ID}{60,${MAX}}`, ['Z8TKqIELvRCrz7SNNbcQdE8Jy03omvo04BLXsoAqik2J44FyyN6BK9jzOeZx', 'BRTM7fezTOCPC3QZI4CUqBcqi7Wt9EOGJRhTopUQZ1qOeEHOM6GcMxef9V70tHHh']],
  ['harness-token', 'pat. sat.', `${URL_ID}{22}\\.${ID}{24}\\.${ID}{20}`, ['KpnbEOaotZ8thLFXgC479T.U6irPLXXCYXI2pAsy9gQMGnx.CBfNgfRfVVbeo6TYsLo2', 'HhlWHLOhTMASUAezx0aTBJ.seEbyHgFjZ6vPYykSQsresZt.1yNCAcZH4QU7L5Q1vlCu']],
  ['salesforce-token', '3MVG9', `[A-Za-z0-9._]{60,${MAX}}`, ['vuMQ3L1LblBJElqVFym7iFdCkNebdElMyd2YOLRnbFcrVhyiPi5MRWaznB4u', 'qGvCOeiP92FUHut36SgTGiCV3R8bmLQYIoL6rU1yiEFgmGXvbaROzFU7kRC1lwFt']],
  ['doppler-token', 'dp.sci. dp.said.', `[A-Za-z0-9_.-]{30,${MAX}}`, ['LWYbh2nSubyn6Ohpf8jDXW3Tjvzau7', 's2UBEInAcgao5gQPwa0lqZJ0zqpSmGMmkF']],
  ['buildkite-token', 'bkct_', `${ID}{32,${MAX}}`, ['E9eZl6AzcgPh0f6X67XuylENs19bkFgf', 'OjGwERj5fPIDc1p6Mn5IsvKvj3XpaavOrWCr']],
  ['artifactory-token', 'cmVmd', `${ID}{59}`, ['Mqe5myEEVB8ArItLxb6zcwrtrywyxRPRmBi7KT2blywsgi7TSMGPIU0zJM9', 'X34DiKdZEiMdlbzyLmp89Y3wkH22DhFwE9YxdEEg7ehH5AmQ8GN89O0C7dF']],
  ['gocardless-token', 'live_ sandbox_', `${URL_ID}{40}${END}`, ['WhMtQl9nlr1A06ZVKJyOYXqLI3GnhSV68bFDAqaS', 'nlzFM938Znk0dVemfh7A9WQG3f1Ffv0hX3ceZFZu']],
  ['clickhouse-key', '4b1d', `${ID}{38}${END}`, ['6ViQV8I0njONNTKtf7kBnjyE7xo7PAPO507Gt5', 'WHSh5crUBcwo2aasog7C48BMl1mEi61Lb8sQ7D']],
  ['defined-token', 'dnkey-', '[a-z0-9=_-]{26}-[a-z0-9=_-]{52}', ['rfdaj3jkhbmiqpcdxrtqojtuyk-gbuag3ddxd23balu79r2q0dw48znd89zb7m1d1fxvxhmetd2ce5c', 'amoodcmbfbgh8r4za7saaseysv-dmwq2at7op5s6hq5sy2nrot5v6fs9fntfun7fwix2ct907go4v6v']],
  ['teams-webhook', 'webhook.office.com/webhookb2/', `${UUID}@${UUID}/IncomingWebhook/[0-9a-f]{32}/${UUID}`, ['c9594fa3-cc73-f1e3-8206-fc1cc63bd761@ce8cbab8-9ee0-9a70-c91f-80d511139ada/IncomingWebhook/fb2ec5e566f64bf136ab1dc9f784d54f/ec338b36-d79b-9ab3-dd17-ebee1c55bfcc', 'eb515154-6cab-b14e-65a2-ff0aaef2a31e@5cb9bc6c-8f57-8aad-26fa-05d07052bfbb/IncomingWebhook/8a8503a9500c34b452384c226b923486/b73f431d-96e1-4fd4-7968-e730c10dd0b7']],
  ['yandex-token', 't1.', `[A-Za-z0-9_-]{4,64}={0,2}\\.${URL_ID}{86}`, ['loXU.ncomtWhOvMZtVBwWR9uumZyai1nvZxigeimXT5k6kGzqlqQNShHOEJIXCX9V4fjYELmanhCYLI0oZGQkFyFhsL', 'hoBD3agr.wEG9NxW1t06jWymzfiHECEMVdNxjMSbtAHbX9nfLSswj2xoXHy9h69XFItu1AFvuHpHjOs8Sz3aPP3QHcHFPJ9']],
  ['frameio-token', 'fio-u-', '[A-Za-z0-9=_-]{64}', ['bjTXX0UGJUTQ3gJ9cnXso3m8UkGJr5GAc731PklJvgW9UZDDj3SVLSh2RwoKbn4v', 'LoMjjuEjDEzJGqlsAxdeqhUhnfc7pcIVTA5Kqn9Khmv8babP2PwQpKGrnHevRfJ7']],
  ['jwt', 'eyJ', `${URL_ID}{10,256}\\.eyJ${URL_ID}{8,8192}\\.${URL_ID}{10,${MAX}}`, ['ajL5NRkIuM.eyJg4kOFqqO.PQqBc6wNup', 'URa0etnh9AztgB.eyJYD1wTFuYiwwo.saBtGLpdwjeK8z']],
]

const PEM_LABEL = '[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
/** Anything but five dashes up to END; in a text that stops before END, only long runs of base64. */
const PEM_BODY = `(?:(?:[^-]|-(?!----)){40,${MAX}}-----END ${PEM_LABEL}|(?:(?:\\s|\\\\[nr]){0,8}[A-Za-z0-9+/=]{20,128}){1,200})`

const SHAPED: readonly Mark[] = [
  {
    kind: 'private-key',
    keywords: ['-----BEGIN '],
    body: new RegExp(`${PEM_LABEL}${PEM_BODY}`, 'y'),
    check: (block) => /[A-Za-z0-9+/=]{40}/.test(block),
    extent: new RegExp(
      `[A-Z0-9 ]{0,64}(?:-----(?:[^-]|-(?!----)){0,${MAX}}(?:-----(?:E(?:N(?:D(?: [A-Z0-9 ]{0,64}-{0,4})?)?)?)?)?|-{0,4})`,
      'y',
    ),
    samples: [
      `PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7'.repeat(3)}\n-----END PRIVATE KEY-----`,
      `RSA PRIVATE KEY-----\\n${'x7Hk2mQ9zR4tWv8yB3nL6pD1sF5gJ0kMuC2eXwZaTqIoVbNrYhGdAlSj'.repeat(2)}\\n-----END RSA PRIVATE KEY-----`,
    ],
  },
  {
    kind: 'url-password',
    keywords: ['://'],
    body: /[^\s:/?#@"'`<>\\]{0,256}:(?<secret>[^\s/?#"'`<>]{3,256})(?=@[A-Za-z0-9[])/y,
    check: (password) => !isTemplate(password) && !isExample(password),
    extent: /[^\s/?#"'`<>]{0,520}/y,
    samples: ['ann:s3cr3t@db.example.org:5432/app', ':x8Kq!2m@cache:6379'],
  },
  {
    kind: 'authorization',
    keywords: ['bearer '],
    anyCase: true,
    body: /(?<secret>[A-Za-z0-9._~+/=-]{16,16384})/y,
    check: (token) => looksRandom(token),
    samples: ['mF9.B5f-4.1JqMx7Lw2Zr8', '0b79bab50daca910b000d4f1a2b675d604257e42'],
  },
  {
    kind: 'payment-card',
    keywords: ['card', 'creditcard', 'debitcard', 'visa', 'amex'],
    anyCase: true,
    body: /[^\r\n]{0,40}?(?<![\w.-])(?<secret>\d{13,19}|\d{4}([ -])\d{4}\2\d{4}\2\d{1,7}|\d{4}([ -])\d{6}\3\d{4,5})(?![\w-]|\.\d)/y,
    check: isPaymentCard,
    extent: /[^\r\n]{0,80}/y,
    samples: [': 4111 1111 1111 1111', 'Number":"5500005555555559"'],
  },
]

export const MARKS: readonly Mark[] = [
  ...PREFIXED.map(
    ([kind, keywords, body, samples, check]): Mark => ({
      kind,
      keywords: keywords.split(' '),
      body: new RegExp(body, 'y'),
      samples,
      check: (text) => isGenerated(text) && (check?.(text) ?? true),
      hasTail: true,
    }),
  ),
  ...SHAPED,
]
