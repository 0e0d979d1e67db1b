import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ClewError, type Ledger, type RetentionReport } from '@clew/ledger'
import { openSqliteStore } from '@clew/sqlite'
import { formatCount } from './format-count.ts'
import { formatSize } from './format-size.ts'
import { growthText, policyText, sizeText } from './cli/retention-lines.ts'
import { nodePorts } from '@clew/runtime/node-ports'
import type { Check } from './operations/doctor.ts'
import { vaultKeyFiles } from './vault/key-files.ts'

const NODE_MAJOR = 24
const WAL_BIG = 256 * 1024 * 1024
const ROOM_LOW = 1024 ** 3
const ROOM_NONE = 64 * 1024 ** 2
const FULL_SOON_DAYS = 30
const LATE_HOUSEKEEPING_MS = 86_400_000

const ok = (name: string, detail: string): Check => ({ name, status: 'ok', detail, hint: null })
const warn = (name: string, detail: string, hint: string): Check => ({ name, status: 'warn', detail, hint })
const fail = (name: string, detail: string, hint: string): Check => ({ name, status: 'fail', detail, hint })

/**
 * Checks everything that a ledger needs; a check that cannot be made is itself a finding, never an exception. Other
 * workspaces are named only to callers that hold the store: the admin of one, over HTTP, must not learn of its
 * neighbours.
 */
export async function diagnose(
  url: string,
  withLedger: (work: (ledger: Ledger) => Promise<void>) => Promise<void>,
  holder: 'of the store' | 'of a workspace',
): Promise<{ ok: boolean; checks: Check[]; retention: RetentionReport | null }> {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  const checks = [
    checkNode(),
    ok('sqlite', `SQLite ${process.versions['sqlite'] ?? 'is not part of this Node'}`),
  ]
  let retention: RetentionReport | null = null
  try {
    await withLedger(async (ledger) => {
      checks.push(ok('store', `${ledger.url} opens, with the current schema`))
      checks.push(...(await checkLedger(ledger, holder === 'of the store')))
      checks.push(
        ...(await attempt('retention', async () => {
          retention = await ledger.retentionReport()
          return checkRetention(retention)
        })),
      )
    })
  } catch (error) {
    checks.push(failed('store', error))
  }
  if (path !== undefined) checks.push(...(await checkFiles(path, retention)))
  return { ok: checks.every((check) => check.status !== 'fail'), checks, retention }
}

function checkRetention(report: RetentionReport): Check[] {
  const isUnusable = report.policy !== null && report.policy.problem !== null
  return [
    ok('size', sizeText(report)),
    ok('growth', growthText(report)),
    isUnusable
      ? warn('policy', policyText(report), 'Set another: clew policy --set.')
      : ok('policy', policyText(report)),
  ]
}

function checkNode(): Check {
  const { node } = process.versions
  if (Number.parseInt(node) >= NODE_MAJOR) return ok('node', `Node ${node}`)
  return fail('node', `Node ${node} is too old`, `Install Node ${NODE_MAJOR} or newer.`)
}

function failed(name: string, error: unknown): Check {
  if (!(error instanceof ClewError))
    return fail(name, error instanceof Error ? error.message : String(error), 'Fix this first.')
  return fail(name, error.message.slice(0, -error.hint.length - 2), error.hint)
}

async function attempt(name: string, work: () => Promise<Check | Check[]>): Promise<Check[]> {
  try {
    return [await work()].flat()
  } catch (error) {
    return [failed(name, error)]
  }
}

async function checkLedger(ledger: Ledger, namesOthers: boolean): Promise<Check[]> {
  return [
    ...(await attempt('contents', async () => {
      const { events, runs, bytes } = await ledger.stats()
      return ok(
        'contents',
        `${formatCount(events)} events in ${formatCount(runs)} runs, ${formatSize(bytes)}`,
      )
    })),
    ...(await attempt('workspaces', () => checkWorkspaces(ledger, namesOthers))),
    ...(await attempt('leases', () => checkLeases(ledger))),
    ...(await attempt('consumers', () => checkConsumers(ledger))),
    ...(await attempt('search index', () => checkIndex(ledger))),
    ...(await attempt('projections', () => checkProjections(ledger))),
    ...(await attempt('workers', () => checkServed(ledger))),
    ...(await attempt('housekeeping', () => checkHousekeeping(ledger))),
    ...(await attempt('newest run', () => checkNewest(ledger))),
  ]
}

async function checkWorkspaces(ledger: Ledger, namesOthers: boolean): Promise<Check> {
  const path = /^sqlite:(.+)$/.exec(ledger.url)?.[1]
  if (path === undefined || !namesOthers) return ok('workspaces', ledger.workspace)
  const store = openSqliteStore(path, nodePorts, { readOnly: true })
  try {
    const { workspaces: names } = await store.info('workspaces')
    if (names.length === 0) return ok('workspaces', 'none yet')
    const shown = names.slice(0, 8).join(', ')
    if (names.includes(ledger.workspace))
      return ok('workspaces', names.length > 8 ? `${shown} and ${names.length - 8} more` : shown)
    return warn(
      'workspaces',
      `there is nothing in ${ledger.workspace}`,
      `Choose with --workspace or CLEW_WORKSPACE: ${shown}.`,
    )
  } finally {
    await store.close()
  }
}

async function checkLeases(ledger: Ledger): Promise<Check[]> {
  const leases = await ledger.leases.list()
  const held = leases.map(({ runId, state, owner, heartbeatAt }) => {
    const detail = `run ${runId} is held by ${owner}, which is ${state} (last heartbeat ${heartbeatAt})`
    return state === 'alive' ? ok('leases', detail) : warn('leases', detail, takeUp(runId))
  })
  const orphaned = new Set(leases.filter(({ state }) => state !== 'alive').map(({ runId }) => runId))
  const { runs } = await ledger.listRuns({ status: 'interrupted', limit: LISTED + 1 })
  const interrupted = runs
    .filter(({ runId }) => !orphaned.has(runId))
    .slice(0, LISTED)
    .map(({ runId, agent }) =>
      warn(
        'orphans',
        `run ${runId} of ${agent ?? 'no agent'} was interrupted, and no process works on it`,
        takeUp(runId),
      ),
    )
  if (runs.length > LISTED)
    interrupted.push(warn('orphans', 'there are more of them', 'Run: clew runs --status interrupted'))
  return [...(held.length > 0 ? held : [ok('leases', 'none held')]), ...interrupted]
}

/** W6: runs of an agent that no live worker has would wait without a word. */
async function checkServed(ledger: Ledger): Promise<Check[]> {
  // Imported on use: readers need no runtime.
  const { findUnserved } = await import('@clew/runtime')
  const unserved = await findUnserved(ledger)
  if (unserved.length === 0) return [ok('workers', 'no run waits for an agent that no worker has')]
  return unserved.map(({ agent, waiting }) =>
    warn(
      'workers',
      `${formatCount(waiting)} ${waiting === 1 ? 'run waits' : 'runs wait'} for agent ${agent}, which no live worker has: unserved`,
      'Start one: clew worker --agent MODULE',
    ),
  )
}

const LISTED = 10
const takeUp = (runId: string): string => `Resume it: clew resume ${runId} --agent MODULE`

async function checkConsumers(ledger: Ledger): Promise<Check[]> {
  const consumers = await ledger.consumers()
  if (consumers.length === 0) return [ok('consumers', 'none')]
  return consumers.map(({ name, position, lag, failures, lastError, isWorking }) => {
    const where = `${name} stands at ${formatCount(position)}, ${formatCount(lag)} behind, ${isWorking ? 'at work' : 'not at work'}`
    if (failures === 0) return ok('consumers', where)
    const detail = `${where}; failed ${formatCount(failures)} times: ${lastError ?? ''}`
    return warn(
      'consumers',
      detail,
      'Correct the cause of the error; the consumer tries again automatically.',
    )
  })
}

async function checkIndex(ledger: Ledger): Promise<Check> {
  const { position, lag, isCurrent } = await ledger.indexState()
  if (!isCurrent)
    return warn('search index', 'built by another version, or for another ledger', 'Run: clew reindex')
  if (position === 0) return ok('search index', 'empty; the first search fills it')
  return ok('search index', `${formatCount(position)} events, ${formatCount(lag)} behind`)
}

async function checkHousekeeping(ledger: Ledger): Promise<Check> {
  const { readLastHousekeeping } = await import('@clew/runtime')
  const last = await readLastHousekeeping(ledger)
  if (!last) return ok('housekeeping', 'never done; clew serve and clew worker do it every hour')
  const { at, policy, events = 0, runs = 0, kept = 0, interrupted = 0, indexed = 0, errors = [] } = last
  const by = policy?.by === undefined ? '' : ` set by ${policy.by}`
  const deleted = policy
    ? `deleted ${formatCount(events)} events of ${formatCount(runs)} runs and kept ${formatCount(kept)} by the policy of ${policy.source === 'opened' ? 'openLedger' : `the workspace${by}`}`
    : 'deleted nothing: there is no retention policy'
  const detail = `last at ${at}: ${deleted}; ${formatCount(interrupted)} interrupted, ${formatCount(indexed)} indexed`
  const [error] = errors
  if (error)
    return warn(
      'housekeeping',
      `${detail}; ${error.task} failed: ${error.message ?? ''}`,
      'Correct the cause; it is tried again every hour.',
    )
  if (Date.now() - Date.parse(at) < LATE_HOUSEKEEPING_MS) return ok('housekeeping', detail)
  return warn('housekeeping', detail, 'Keep clew serve or clew worker running, or run clew gc by hand.')
}

async function checkProjections(ledger: Ledger): Promise<Check> {
  const { version, current, isRebuilding } = await ledger.projectionState()
  if (isRebuilding)
    return warn(
      'projections',
      'a rebuild was started and did not finish',
      'Run clew rebuild: it continues where it stopped.',
    )
  if (version === current) return ok('projections', `rows of runs and steps have version ${version}`)
  const detail = `rows of runs and steps have version ${version}, this Clew writes version ${current}`
  return warn('projections', detail, 'Run: clew rebuild')
}

async function checkNewest(ledger: Ledger): Promise<Check> {
  const [run] = (await ledger.listRuns({ limit: 1 })).runs
  if (!run) return ok('newest run', 'there is none yet')
  const { ok: fine, checked, problems } = await ledger.verify(run.runId)
  if (fine) return ok('newest run', `${run.runId}: ${formatCount(checked)} events verified`)
  const [first] = problems
  return fail(
    'newest run',
    `${run.runId}: ${first?.problem} at seq ${first?.seq}, ${first?.detail}`,
    'Run `clew verify` to see everything.',
  )
}

async function checkFiles(path: string, retention: RetentionReport | null): Promise<Check[]> {
  return [
    ...(await attempt('wal', () => checkWal(path))),
    ...(await checkKey('key', `${path}.key`)),
    ...(await checkKey('signing key', `${path}.signing.pem`)),
    ...(await checkVaultKeys(path)),
    ...(await attempt('disk', () => checkRoom(dirname(path), retention?.growth.week?.bytesPerDay ?? 0))),
  ]
}

/** Checks the key files of the vault: a process that can read one decrypts the vault. */
async function checkVaultKeys(path: string): Promise<Check[]> {
  const files = vaultKeyFiles(path)
  return (await Promise.all(files.map((file) => checkKey('vault key', file)))).flat()
}

async function checkWal(path: string): Promise<Check> {
  const bytes = (await found(`${path}-wal`))?.size ?? 0
  if (bytes < WAL_BIG) return ok('wal', formatSize(bytes))
  return warn(
    'wal',
    `${formatSize(bytes)} are not yet written back to the database file`,
    'A long-running reader prevents it; close that reader, then write once.',
  )
}

/** Only its owner may read a key (P2). */
async function checkKey(name: string, file: string): Promise<Check[]> {
  const info = await found(file)
  if (!info) return []
  const mode = info.mode & 0o777
  if (process.platform === 'win32' || (mode & 0o077) === 0) return [ok(name, `${file}, only for its owner`)]
  return [fail(name, `${file} has mode ${mode.toString(8)}: others can read it`, `Run: chmod 600 ${file}`)]
}

async function checkRoom(folder: string, bytesPerDay: number): Promise<Check> {
  if (!(await found(folder))) return ok('disk', 'the folder does not exist yet')
  const { bavail, bsize } = await statfs(folder)
  const room = bavail * bsize
  if (room < ROOM_NONE)
    return fail('disk', `${formatSize(room)} free`, 'Free some space: appends are about to be refused.')
  if (room < ROOM_LOW) return warn('disk', `${formatSize(room)} free`, 'Free some space before it runs out.')
  const days = Math.floor(room / bytesPerDay)
  if (days < FULL_SOON_DAYS)
    return warn('disk', `${formatSize(room)} free, full in ${days} days at this pace`, 'Run: clew retention')
  return ok('disk', `${formatSize(room)} free`)
}

const found = (path: string) => stat(path).catch(() => undefined)
