import { createAppendQueue } from './append-queue.ts'
import type { Price } from './billing/cost.ts'
import { readCost } from './billing/read-cost.ts'
import { inputDigest } from './canonical.ts'
import { findCauses, findEffects } from './causality.ts'
import {
  checkCount,
  checkDurability,
  checkLimit,
  checkSince,
  checkWorkspace,
  missingRun,
} from './check-options.ts'
import { createCodecs } from './codecs.ts'
import { createConsumers } from './consume.ts'
import { checkInput, type ClewEvent, type EventInput, type Payload } from './envelope.ts'
import { ClewError } from './errors.ts'
import { partEvents, relatedRuns } from './export-run.ts'
import { foldSteps } from './fold/steps.ts'
import { followEvents } from './follow.ts'
import { assertSameWorkspace, checkHeads, type Head, type HeadChecker, headsText } from './heads.ts'
import type { JsonValue } from './json.ts'
import type { AppendOptions, Ledger, LedgerOptions, ReadOptions } from './ledger.ts'
import { createPayloadReader } from './payload-reader.ts'
import type { Ports } from './ports.ts'
import { createPreparer } from './prepare.ts'
import { PROJECTION_VERSION } from './projection-version.ts'
import { createRedactor } from './redact/redact.ts'
import { createExportRedactor } from './redact-export.ts'
import { createStateReader } from './read-state.ts'
import { createRunReader } from './run-reader.ts'
import { createRunViews } from './run-views.ts'
import type { PreparedEvent, Store } from './store.ts'
import { formatLine } from './transfer.ts'

/** What `createLedger` needs beside its options; `openLedger` brings it along. */
export interface LedgerParts {
  readonly store: Store
  readonly ports: Ports
  /** Secret of this ledger, kept outside its store: for fingerprints and for judging sameness. */
  readonly secret: string
  readonly heads: HeadChecker
  /** What model calls cost (V7); without it no event gets a cost of its own. */
  readonly price?: Price | undefined
}

export function createLedger(
  { store, ports, secret, heads, price }: LedgerParts,
  options: LedgerOptions = {},
): Ledger {
  const workspace = checkWorkspace(options.workspace ?? 'default')
  const mode = { write: true, resume: true, replay: true, ...options.mode }
  const codecs = createCodecs(options.codecs)
  const fingerprint = (text: string): string => ports.sha256(`${secret}\n${text}\n${secret}`).slice(0, 10)
  const redactor = createRedactor(options.redact ?? {}, fingerprint)
  const preparer = createPreparer({ ports, codecs, redactor, macKey: secret, price })
  const reader = createPayloadReader(store, codecs)
  const queue = createAppendQueue(store, ports)
  const runs = createRunReader(store, workspace, assertOpen)
  const states = createStateReader(runs, reader)
  const consumers = createConsumers({ store, reader, ports, redactor, workspace, assertOpen })
  let closed = false

  /** Loaded when asked for, as all that most users of a ledger never call: modules are what importing Clew costs. */
  const loadIndexer = async () =>
    (await import('./search/indexer.ts')).createIndexer({ store, reader, ports, isClosed: () => closed })

  function assertOpen(): void {
    if (closed)
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

  // Not `async`, and neither is `record`: one promise per call instead of three is a tenth of the cost of an append.
  function append(
    events: readonly EventInput[],
    { expectedSeq, epoch }: AppendOptions = {},
  ): Promise<readonly ClewEvent[]> {
    try {
      assertWritable()
      checkCount('expectedSeq', expectedSeq)
      checkCount('epoch', epoch)
      if (events.length === 0) return Promise.resolve([])
      const prepared = events.map((event, item) =>
        atItem(events.length, item, () => preparer.prepare(checkInput(event))),
      )
      return queue.push({ workspace, events: prepared, expectedSeq, epoch }, (stored) =>
        stored.map((event, item) => revive(event, prepared[item] as PreparedEvent)),
      )
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async function* read(runId: string, readOptions: ReadOptions = {}): AsyncGenerator<ClewEvent> {
    checkCount('afterSeq', readOptions.afterSeq)
    checkCount('limit', readOptions.limit)
    for await (const page of runs.events(runId, readOptions)) yield* await reader.toEvents(page)
  }

  async function readWhole(runId: string): Promise<ClewEvent[]> {
    const events: ClewEvent[] = []
    for await (const event of read(runId)) events.push(event)
    return events
  }

  const ledger: Ledger = {
    url: store.url,
    workspace,
    leases: consumers.runLeases,
    mode,
    durability: checkDurability(options.durability ?? 'group'),
    redactor,
    get waiting() {
      return queue.waiting
    },
    record(event) {
      try {
        assertWritable()
        const prepared = preparer.prepare(checkInput(event))
        return queue.push({ workspace, events: [prepared] }, ([stored]) =>
          revive(stored as ClewEvent, prepared),
        )
      } catch (error) {
        return Promise.reject(error)
      }
    },
    append,
    read,
    follow(followOptions = {}) {
      checkCount('afterPosition', followOptions.afterPosition)
      const isClosed = (): boolean => closed
      return followEvents({ store, reader, workspace, runs, isClosed }, followOptions)
    },
    async getEvent(eventId) {
      assertOpen()
      const [found] = await reader.toEvents((await store.findEvents(workspace, eventId)).slice(0, 1))
      return found ?? null
    },
    async getRun(runId) {
      assertOpen()
      const run = await store.findRun({ workspace, runId })
      return run && reviveRow(run.summary)
    },
    async listRuns({ since, limit = 50, ...filter } = {}) {
      assertOpen()
      const page = await store.listRuns({
        ...filter,
        workspace,
        limit: checkLimit(limit),
        since: checkSince(since),
      })
      return { runs: page.runs.map((run) => reviveRow(run.summary)), nextCursor: page.nextCursor }
    },
    async findBelow(runIds) {
      assertOpen()
      if (runIds.length === 0) return []
      return (await store.findBelow(workspace, runIds)).map((run) => reviveRow(run.summary))
    },
    getSteps: async (runId) => foldSteps(await readWhole(runId)),
    async getSkeleton(runId) {
      assertOpen()
      const steps = await store.readSkeleton({ workspace, runId })
      return steps.map((step) => (step.pause || step.usage ? reviveRow(step) : step))
    },
    async getState(runId, { superstep } = {}) {
      assertOpen()
      checkCount('superstep', superstep)
      return superstep === undefined ? states.latest(runId) : states.atSuperstep(runId, superstep)
    },
    async getStateAt(runId, seq) {
      assertOpen()
      checkCount('seq', seq)
      return states.atEvent(runId, seq)
    },
    listCheckpoints: (runId) => states.checkpoints(runId),
    digest(value) {
      const json = codecs.encode(value)
      return inputDigest(ports.sha256, redactor.value(json).value)
    },
    async causes(eventId) {
      assertOpen()
      return reader.toEvents(await findCauses(store, workspace, eventId))
    },
    async effects(eventId) {
      assertOpen()
      return reader.toEvents(await findEffects(store, workspace, eventId))
    },
    async cost(filter = {}) {
      assertOpen()
      return readCost({ store, reader, runs, workspace }, filter, checkSince(filter.since))
    },
    diff: async (runA, runB) => (await import('./diff/diff-runs.ts')).diffRuns(ledger, runA, runB),
    explain: async (runId) => (await import('./explain.ts')).explainRun(ledger, runId),
    ...createRunViews({
      read,
      async readTypes(types, afterPosition, limit) {
        assertOpen()
        return reader.toEvents(await store.readAll({ workspace, types, afterPosition, limit }))
      },
    }),
    causedBy: (event, fn) => ports.context.run(typeof event === 'string' ? event : event.eventId, fn),
    currentCause: () => ports.context.current(),
    consume: consumers.consume,
    consumers: consumers.list,
    resetConsumer: consumers.reset,
    async search(query, searchOptions = {}) {
      assertOpen()
      if (searchOptions.limit !== undefined) checkLimit(searchOptions.limit)
      checkCount('catchUpMs', searchOptions.catchUpMs)
      const { searchRuns } = await import('./search/search.ts')
      const found = await searchRuns({ store, reader, ports, workspace }, query, searchOptions)
      return { ...found, hits: found.hits.map((hit) => ({ ...hit, run: reviveRow(hit.run) })) }
    },
    async index(indexOptions = {}) {
      assertOpen()
      return (await loadIndexer()).index(indexOptions)
    },
    async indexState() {
      assertOpen()
      return (await loadIndexer()).state()
    },
    async rebuild(rebuildOptions = {}) {
      assertOpen()
      const { rebuildProjections } = await import('./rebuild.ts')
      return rebuildProjections({ store, reader, ports }, rebuildOptions)
    },
    async projectionState() {
      assertOpen()
      const { version, rebuilding } = await store.projections.state()
      return { version, current: PROJECTION_VERSION, isRebuilding: rebuilding !== null }
    },
    async verify(runId, { heads: signed, publicKey, projections = false, onProgress } = {}) {
      assertOpen()
      if (signed) assertSameWorkspace(signed, workspace)
      const parts = { store, reader, runs, ports, workspace }
      const { verifyRuns } = await import('./verify-runs.ts')
      const { checked, problems } = await verifyRuns(parts, { runId, projections, onProgress })
      if (signed) problems.push(...(await checkHeads(store, heads, signed, { publicKey, only: runId })))
      return { ok: problems.length === 0, checked, problems }
    },
    async signHeads(signer) {
      assertOpen()
      const all: Head[] = []
      for await (const { summary, seq, hash } of runs.allRuns()) all.push({ runId: summary.runId, seq, hash })
      const statement = { workspace, takenAt: new Date(ports.now()).toISOString(), heads: all }
      return { ...statement, signature: await signer.sign(headsText(statement)), publicKey: signer.publicKey }
    },
    async *export({ runId, redacted = false, onProgress } = {}) {
      assertOpen()
      if (runId !== undefined && !(await store.findRun({ workspace, runId }))) throw missingRun(runId)
      const parts =
        runId === undefined ? undefined : await relatedRuns({ store, reader, runs, workspace }, runId)
      const clean = redacted
        ? createExportRedactor(
            { sha256: ports.sha256, redactor, reader },
            parts?.map(({ run }) => run) ?? (await Array.fromAsync(runs.allRuns())),
          )
        : undefined
      let events = 0
      for await (const page of parts ? partEvents({ runs }, parts) : runs.allEvents()) {
        for (const stored of page) yield `${await formatLine(clean ? await clean(stored) : stored, reader)}\n`
        events += page.length
        onProgress?.(events)
      }
    },
    async import(stream, importOptions = {}) {
      assertWritable()
      const push = (events: readonly PreparedEvent[]) => queue.push({ workspace, events }, (stored) => stored)
      const lastPosition = await store.lastPosition()
      const { importLines } = await import('./import.ts')
      return importLines(stream, { preparer, push, lastPosition }, importOptions)
    },
    async lastPosition() {
      assertOpen()
      return store.lastPosition()
    },
    watch(wake) {
      assertOpen()
      return store.watch(wake)
    },
    async stats() {
      assertOpen()
      return store.stats()
    },
    async close() {
      if (closed) return
      closed = true
      await consumers.stop()
      await queue.drain()
      await store.close()
    },
  }
  return ledger
}

/** In a batch, the answer says which item (E4). */
function atItem<T>(count: number, item: number, work: () => T): T {
  if (count === 1) return work()
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof ClewError)) throw cause
    const message = cause.message.slice(0, -cause.hint.length - 2)
    throw new ClewError(
      cause.code,
      `Item ${item} of the batch: ${message}`,
      cause.hint,
      { ...cause.fields, item },
      cause,
    )
  }
}
