import { findBelow, findRun } from './store/find-runs.ts'
import { atItem } from './append/at-item.ts'
import { readCost } from './billing/read-cost.ts'
import { inputDigest } from './hash/canonical.ts'
import { findCauses, findEffects } from './read/causality.ts'
import {
  checkCount,
  checkDurability,
  checkLimit,
  checkScoresAndTags,
  checkSince,
  checkWorkspace,
} from './check-options.ts'
import { createConsumers } from './read/consume.ts'
import { diffRuns } from './diff/diff-runs.ts'
import {
  type CheckedEnvelope,
  checkInput,
  checkWire,
  type ClewEvent,
  type Payload,
} from './event/envelope.ts'
import { erase } from './erasure/erase.ts'
import { ClewError } from './errors.ts'
import { explainRun } from './read/explain.ts'
import { exportLines } from './transfer/export-lines.ts'
import { foldSteps } from './fold/steps.ts'
import type { RunSummary } from './fold/run-summary.ts'
import { followEvents } from './read/follow.ts'
import { importLines } from './transfer/import.ts'
import { assertSameWorkspace, checkHeads, type Head, headsText } from './verify/heads.ts'
import type { JsonValue } from './json.ts'
import type { AppendOptions, Ledger, LedgerOptions, ReadOptions } from './ledger.ts'
import { type LedgerContext, createLedgerContext, type LedgerParts } from './ledger-context.ts'
import { createLedgerMemory } from './memory/create-memory.ts'
import { checkMemoryPolicy } from './memory/policy.ts'
import { createProgress } from './progress/create-progress.ts'
import { listByQuery } from './query/list-by-query.ts'
import { PROJECTION_VERSION, readProjectionState } from './projections/projection-version.ts'
import { createPolicyAccess } from './policy/workspace-policy.ts'
import { readRunValues, type RunValues } from './read/read-run-values.ts'
import { createStateReader } from './read/read-state.ts'
import { rebuildProjections } from './projections/rebuild.ts'
import { createRemovalImport } from './removal/import-removals.ts'
import { readHolds } from './retention/holds.ts'
import { createLedgerRetention } from './retention/ledger-retention.ts'
import { createRunReader } from './read/run-reader.ts'
import { createRunViews } from './read/run-views.ts'
import { createIndexer } from './search/indexer.ts'
import { searchRuns } from './search/search.ts'
import type { StoredEvent } from './store/store.ts'
import type { PreparedEvent } from './store/change.ts'
import { nameThreads } from './lifecycle/thread-leases.ts'
import { rotateVault } from './vault/rotate-vault.ts'
import { verifyRuns } from './verify/verify-runs.ts'

export function createLedger(parts: LedgerParts, options: LedgerOptions = {}): Ledger {
  return createView(createLedgerContext(parts, options), {
    workspace: options.workspace ?? 'default',
    isOpened: true,
  })
}

interface ViewOptions {
  readonly workspace: string
  readonly plain?: boolean | undefined
  readonly isOpened?: boolean | undefined
}

/** The ledger as one workspace sees it; all of them end with the one that was opened. */
function createView(core: LedgerContext, { isOpened = false, plain = false, ...view }: ViewOptions): Ledger {
  const { store, ports, heads, options, queue, forgetValues } = core
  const workspace = checkWorkspace(view.workspace)
  const sides = core.contextOf(workspace)
  const { redactor, identities, followed } = sides
  const { codecs, preparer, reader } = plain ? sides.plain() : sides.rich
  const mode = { write: true, resume: true, replay: true, ...options.mode }
  const runs = createRunReader(store, workspace, assertOpen)
  const states = createStateReader(runs, reader)
  /** Events for code: with the originals that the vault has. */
  const toCodeEvents = async (page: readonly StoredEvent[]): Promise<ClewEvent[]> =>
    reader.toEvents(page, await sides.vault?.open(page))
  const codeStates = createStateReader(runs, { ...reader, toEvents: toCodeEvents })
  const toEventsFor = (restored: boolean | undefined) => (restored ? toCodeEvents : reader.toEvents)
  const statesFor = (restored: boolean | undefined) => (restored ? codeStates : states)
  const consumers = createConsumers({ store, reader, ports, redactor, workspace, assertOpen })
  let closed = false
  const isClosed = (): boolean => closed || core.closed

  async function getRun(
    runId: string,
    { values = false }: { readonly values?: boolean | undefined } = {},
  ): Promise<RunSummary | (RunSummary & RunValues) | null> {
    assertOpen()
    const run = await findRun(store, { workspace, runId })
    if (!run) return null
    const summary = reviveRow(run.summary)
    return values ? { ...summary, ...(await readRunValues(ledger, summary)) } : summary
  }

  const indexer = createIndexer({ store, reader, ports, isClosed })

  function assertOpen(): void {
    if (isClosed())
      throw new ClewError('closed', `The ledger ${store.url} is closed`, 'Open it again before using it.')
  }

  function assertWritable(): void {
    assertOpen()
    if (!mode.write)
      throw new ClewError(
        'switched_off',
        `The ledger ${store.url} is open with writing switched off`,
        'Open it with mode { write: true }, or set CLEW_MODE; nothing was written.',
        { mode: 'write' },
      )
  }

  /** Gives rich values back in what an append answers. */
  function revive(event: ClewEvent, { text }: PreparedEvent): ClewEvent {
    const payload = codecs.decode(event.payload as JsonValue, text) as Payload
    return payload === event.payload ? event : { ...event, payload }
  }

  /** Projections hold JSON; rich values in them come back here. */
  const reviveRow = <T>(row: T): T => codecs.decode(row as JsonValue) as T

  function write<Event>(
    events: readonly Event[],
    { expectedSeq, epoch, keepStepIds, eager }: AppendOptions,
    check: (event: Event) => CheckedEnvelope,
  ): Promise<readonly ClewEvent[]> {
    assertWritable()
    const prepared = events.map((event, item) =>
      atItem(events.length, item, () => preparer.prepare(check(event), { keepStepIds })),
    )
    const answer = (stored: readonly ClewEvent[]): ClewEvent[] =>
      stored.map((event, item) => revive(event, prepared[item] as PreparedEvent))
    return queue.push({ workspace, events: prepared, expectedSeq, epoch }, answer, eager)
  }

  // Not `async`, and neither is `record`: one promise per call instead of three is a tenth of the cost of an append.
  function append<Event>(
    events: readonly Event[],
    appendOptions: AppendOptions = {},
    check: (event: Event) => CheckedEnvelope,
  ): Promise<readonly ClewEvent[]> {
    try {
      assertWritable()
      checkCount('expectedSeq', appendOptions.expectedSeq)
      checkCount('epoch', appendOptions.epoch)
      if (events.length === 0) return Promise.resolve([])
      const following = followed()
      if (!following) return write(events, appendOptions, check)
      // A policy passed in counts as current, and one read at opening is new enough, however long reading took.
      const frozen = events.map((event, item) =>
        atItem(events.length, item, () => preparer.freeze(check(event))),
      )
      return following.then(() => write(frozen, appendOptions, (event) => event))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async function* read(runId: string, readOptions: ReadOptions = {}): AsyncGenerator<ClewEvent> {
    checkCount('afterSeq', readOptions.afterSeq)
    checkCount('limit', readOptions.limit)
    const toEvents = toEventsFor(readOptions.restored)
    for await (const page of runs.events(runId, readOptions)) yield* await toEvents(page)
  }

  async function readWhole(runId: string): Promise<ClewEvent[]> {
    const events: ClewEvent[] = []
    for await (const event of read(runId)) events.push(event)
    return events
  }

  /** All that the record may have for these names. */
  const namesOf = (given: string | readonly string[]): string[] => [
    ...new Set([given].flat().flatMap((name) => identities.identity(name).names)),
  ]

  const ledger: Ledger = {
    url: store.url,
    workspace,
    in: (other, viewOptions) => createView(core, { ...viewOptions, workspace: other }),
    leases: nameThreads(consumers.runLeases, identities),
    progress: createProgress({
      store,
      redactor,
      followed,
      workspace,
      now: ports.now,
      assertOpen,
      assertWritable,
    }),
    mode,
    durability: checkDurability(options.durability ?? 'group'),
    redactor,
    fingerprint: core.fingerprint,
    hasVault: core.vault !== undefined,
    conceal: (value) => sides.vault?.conceal(value) ?? value,
    memory: createLedgerMemory({
      store,
      reader,
      ports,
      workspace,
      append: (events, appendOptions) => append(events, appendOptions, checkInput),
      holds: async () => (await readHolds(ledger)).holds,
      codecs,
      identities,
      policy: checkMemoryPolicy(options.memory),
      assertOpen,
    }),
    get waiting() {
      return queue.waiting
    },
    record(event) {
      try {
        assertWritable()
        if (followed()) return append([event], {}, checkInput).then(([stored]) => stored as ClewEvent)
        const prepared = preparer.prepare(checkInput(event))
        return queue.push({ workspace, events: [prepared] }, ([stored]) =>
          revive(stored as ClewEvent, prepared),
        )
      } catch (error) {
        return Promise.reject(error)
      }
    },
    append: (events, appendOptions) => append(events, appendOptions, checkInput),
    appendWire: (events, appendOptions) => append(events, appendOptions, checkWire),
    read,
    follow(followOptions = {}) {
      checkCount('afterPosition', followOptions.afterPosition)
      return followEvents({ store, reader, workspace, runs, isClosed }, followOptions)
    },
    async getEvent(eventId) {
      assertOpen()
      const [found] = await reader.toEvents(
        (await store.findEvents({ workspace, ids: [eventId] })).slice(0, 1),
      )
      return found ?? null
    },
    getRun: getRun as Ledger['getRun'],
    async listRuns({ q = '', since, limit = 50, systemRun, threadId, ...filter } = {}) {
      assertOpen()
      checkScoresAndTags(filter)
      const within = {
        ...filter,
        workspace,
        threadIds: threadId === undefined ? undefined : namesOf(threadId),
        systemRun: systemRun ?? null,
        limit: checkLimit(limit),
        since: checkSince(since),
      }
      const page =
        q.trim() === ''
          ? await store.findRuns(within)
          : await listByQuery(q, { store, within, namesOf, now: ports.now() })
      return { runs: page.runs.map((run) => reviveRow(run.summary)), nextCursor: page.next }
    },
    async findBelow(runIds) {
      assertOpen()
      if (runIds.length === 0) return []
      return (await findBelow(store, workspace, runIds)).map((run) => reviveRow(run.summary))
    },
    getSteps: async (runId) => foldSteps(await readWhole(runId)),
    async getSkeleton(runId, range) {
      assertOpen()
      checkCount('afterSeq', range?.afterSeq)
      checkCount('beforeSeq', range?.beforeSeq)
      checkCount('limit', range?.limit)
      const steps = await store.readSteps({ workspace, runId }, range)
      return steps.map((step) => (step.pause || step.usage ? reviveRow(step) : step))
    },
    async getState(runId, { superstep, restored } = {}) {
      assertOpen()
      checkCount('superstep', superstep)
      const from = statesFor(restored)
      return superstep === undefined ? from.latest(runId) : from.atSuperstep(runId, superstep)
    },
    async getStateAt(runId, seq, stateOptions) {
      assertOpen()
      checkCount('seq', seq)
      return statesFor(stateOptions?.restored).atEvent(runId, seq, stateOptions)
    },
    listCheckpoints: (runId) => states.checkpoints(runId),
    digest(value) {
      const json = codecs.encode(value)
      return inputDigest(ports.sha256, redactor.value(json).value)
    },
    recordedCopy: <T>(value: T) => codecs.copy(value) as T,
    keyedDigest: (value) => identities.keyedDigest(codecs.encode(value)),
    identity: identities.identity,
    async causes(eventId) {
      assertOpen()
      return reader.toEvents(await findCauses(store, workspace, eventId))
    },
    async effects(eventId, { restored } = {}) {
      assertOpen()
      return toEventsFor(restored)(await findEffects(store, workspace, eventId))
    },
    async cost(filter = {}) {
      assertOpen()
      const threadIds = filter.threadId === undefined ? undefined : namesOf(filter.threadId)
      return readCost({ store, reader, runs, workspace }, { ...filter, threadIds }, checkSince(filter.since))
    },
    diff: (runA, runB, options) => diffRuns(ledger, runA, runB, options),
    explain: (runId, options) => explainRun(ledger, runId, ports.now(), options),
    ...createRunViews({
      read,
      async readTypes(types, afterPosition, limit) {
        assertOpen()
        const { newestPosition: upToPosition } = await store.info('newestPosition')
        return reader.toEvents(await store.readAll({ workspace, types, afterPosition, upToPosition, limit }))
      },
    }),
    causedBy: (event, fn) => ports.context.run(typeof event === 'string' ? event : event.eventId, fn),
    currentCause: () => ports.context.current(),
    consume(consumer, handler, consumeOptions) {
      core.stops.add(consumers.stop)
      return consumers.consume(consumer, handler, consumeOptions)
    },
    consumers: consumers.list,
    resetConsumer: consumers.reset,
    async search(query, searchOptions = {}) {
      assertOpen()
      if (searchOptions.limit !== undefined) checkLimit(searchOptions.limit)
      checkCount('catchUpMs', searchOptions.catchUpMs)
      const found = await searchRuns({ store, reader, ports, workspace }, query, searchOptions)
      return { ...found, hits: found.hits.map((hit) => ({ ...hit, run: reviveRow(hit.run) })) }
    },
    async index(indexOptions = {}) {
      assertOpen()
      return indexer.index(indexOptions)
    },
    async indexState() {
      assertOpen()
      return indexer.state()
    },
    async erase(target, eraseOptions = {}) {
      assertWritable()
      const parts = {
        ledger,
        store,
        reader,
        runs,
        redactor,
        identities,
        ports,
        workspace,
        preparer,
        forget: forgetValues,
      }
      return erase(parts, target, eraseOptions)
    },
    ...createLedgerRetention({
      store,
      reader,
      runs,
      ports,
      workspace,
      preparer,
      forgetValues,
      policy: options.retention,
      ledger: () => ledger,
      assertOpen,
      assertWritable,
    }),
    ...createPolicyAccess({
      store,
      workspace,
      now: ports.now,
      ledger: () => ledger,
      use: (policy) => core.usePolicy(workspace, policy),
    }),
    async rebuild(rebuildOptions = {}) {
      assertOpen()
      const report = await rebuildProjections({ store, reader, ports }, rebuildOptions)
      // Memory rows are rebuilt by the next read.
      const { workspaces } = await store.info('workspaces')
      for (const each of workspaces) await store.memory.clear(each)
      return report
    },
    async projectionState() {
      assertOpen()
      const { version, rebuilding } = await readProjectionState(store.slots)
      return { version, current: PROJECTION_VERSION, isRebuilding: rebuilding !== null }
    },
    async rotateVault(rotateOptions) {
      assertWritable()
      if (!core.vault) throw noVault(store.url)
      return rotateVault(store, core.vault, rotateOptions)
    },
    async verify(runId, { heads: signed, publicKey, projections = false, onProgress } = {}) {
      assertOpen()
      if (signed) assertSameWorkspace(signed, workspace)
      const parts = { store, reader, runs, ports, workspace, vault: core.vault }
      const { checked, problems, pruned } = await verifyRuns(parts, { runId, projections, onProgress })
      if (signed) problems.push(...(await checkHeads(store, heads, signed, { publicKey, only: runId })))
      return { ok: problems.length === 0, checked, problems, pruned }
    },
    async signHeads(signer) {
      assertOpen()
      const all: Head[] = []
      for await (const { summary, seq, hash } of runs.allRuns({ deleted: true }))
        all.push({ runId: summary.runId, seq, hash })
      const statement = { workspace, takenAt: new Date(ports.now()).toISOString(), heads: all }
      return { ...statement, signature: await signer.sign(headsText(statement)), publicKey: signer.publicKey }
    },
    async *export(exportOptions = {}) {
      assertOpen()
      yield* exportLines({ store, reader, runs, ports, redactor, workspace }, exportOptions)
    },
    async import(stream, importOptions = {}) {
      assertWritable()
      const push = (events: readonly PreparedEvent[]) => queue.push({ workspace, events }, (stored) => stored)
      const { newestPosition: lastPosition } = await store.info('newestPosition')
      const removals = await createRemovalImport({ store, reader, runs, preparer, workspace, push })
      return importLines(stream, { preparer, push, lastPosition, removals, followed }, importOptions)
    },
    async lastPosition() {
      assertOpen()
      return (await store.info('lastPosition')).lastPosition
    },
    async newestPosition() {
      assertOpen()
      return (await store.info('newestPosition')).newestPosition
    },
    watch(wake) {
      assertOpen()
      return store.watch(wake)
    },
    async stats() {
      assertOpen()
      return (await store.info('stats')).stats
    },
    async close() {
      if (isClosed()) return
      closed = true
      if (isOpened) core.closed = true
      else core.stops.delete(consumers.stop)
      await Promise.all(isOpened ? [...core.stops].map((stop) => stop()) : [consumers.stop()])
      await queue.drain()
      if (isOpened) await store.close()
    },
  }
  return ledger
}

const noVault = (url: string): ClewError =>
  new ClewError(
    'bad_option',
    `The ledger ${url} was opened without a vault`,
    'Open it with the option vault and its keys; nothing was changed.',
    { option: 'vault' },
  )
