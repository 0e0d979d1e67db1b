import type { OrdinaryText, SecretText } from '../texts.ts'
import { code as ordinaryCode } from './ordinary/code.ts'
import { config as ordinaryConfig } from './ordinary/config.ts'
import { data as ordinaryData } from './ordinary/data.ts'
import { docs } from './ordinary/docs.ts'
import { ids } from './ordinary/ids.ts'
import { logs as ordinaryLogs } from './ordinary/logs.ts'
import { long as ordinaryLong } from './ordinary/long.ts'
import { names } from './ordinary/names.ts'
import { payload as ordinaryPayload } from './ordinary/payload.ts'
import { prose } from './ordinary/prose.ts'
import { shell as ordinaryShell } from './ordinary/shell.ts'
import { web } from './ordinary/web.ts'
import { chat } from './secrets/chat.ts'
import { code } from './secrets/code.ts'
import { config } from './secrets/config.ts'
import { data } from './secrets/data.ts'
import { env } from './secrets/env.ts'
import { http } from './secrets/http.ts'
import { infra } from './secrets/infra.ts'
import { keys } from './secrets/keys.ts'
import { logs } from './secrets/logs.ts'
import { long } from './secrets/long.ts'
import { payload } from './secrets/payload.ts'
import { shell } from './secrets/shell.ts'
import { vendor } from './secrets/vendor.ts'

/** The number of a text is its place in this list: even is half A, odd is half B. */
export const SECRETS: readonly SecretText[] = [
  env,
  config,
  shell,
  infra,
  http,
  logs,
  chat,
  code,
  keys,
  data,
  payload,
  long,
  vendor,
].flat()

/** As above: even is half A, odd is half B. */
export const ORDINARY: readonly OrdinaryText[] = [
  ids,
  docs,
  prose,
  ordinaryCode,
  names,
  ordinaryLogs,
  ordinaryConfig,
  ordinaryShell,
  web,
  ordinaryData,
  ordinaryPayload,
  ordinaryLong,
].flat()
