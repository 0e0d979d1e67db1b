import type { OrdinaryText, SecretText } from '../texts.ts'
import { data } from './ordinary/data.ts'
import { docs } from './ordinary/docs.ts'
import { ids } from './ordinary/ids.ts'
import { ordinaryLogs } from './ordinary/logs.ts'
import { long } from './ordinary/long.ts'
import { prose } from './ordinary/prose.ts'
import { reading } from './ordinary/reading.ts'
import { web } from './ordinary/web.ts'
import { work } from './ordinary/work.ts'
import { calls } from './secrets/calls.ts'
import { chat } from './secrets/chat.ts'
import { cloud } from './secrets/cloud.ts'
import { code } from './secrets/code.ts'
import { config } from './secrets/config.ts'
import { env } from './secrets/env.ts'
import { http } from './secrets/http.ts'
import { infra } from './secrets/infra.ts'
import { keys } from './secrets/keys.ts'
import { logs } from './secrets/logs.ts'
import { shell } from './secrets/shell.ts'

export const SECRETS: readonly SecretText[] = [
  env,
  config,
  shell,
  code,
  logs,
  http,
  cloud,
  infra,
  chat,
  calls,
  keys,
].flat()

export const ORDINARY: readonly OrdinaryText[] = [
  ids,
  reading,
  docs,
  ordinaryLogs,
  prose,
  data,
  web,
  work,
  long,
].flat()
