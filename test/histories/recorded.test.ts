import { readdirSync, readFileSync } from 'node:fs'
import { type Ledger, openLedger, replay, SCHEMA_VERSION } from 'clew'
import { describe, expect, test } from 'vitest'
import { AGENTS } from './agents.ts'
import { hashOf, payloadHashOf, type SealedLine } from './independent-hash.ts'
import { parseViews, viewsOf } from './views.ts'

/** Histories by the version of the schema that they were recorded with; all of them stay, and load for ever (D5). */
const folder = new URL('./', import.meta.url)
const versions = readdirSync(folder).filter((name) => name.startsWith('schema-'))
const names = versions.flatMap((version) =>
  readdirSync(new URL(`${version}/`, folder))
    .filter((name) => name.endsWith('.ndjson') && !name.endsWith('.views.ndjson'))
    .map((name) => `${version}/${name.replace('.ndjson', '')}`),
)
const textOf = (name: string): string => readFileSync(new URL(`${name}.ndjson`, folder), 'utf8')

/** A map has no code of its own: its items do. */
const agentOf = (agent: string | null) => AGENTS.get(agent?.replace(/ map$/, '') ?? '')

async function load(name: string): Promise<Ledger> {
  const ledger = await openLedger('memory:')
  await ledger.import([textOf(name)])
  return ledger
}

interface Told {
  readonly kind: string
  readonly seq: number
  readonly stepId: string | null
  readonly output?: unknown
}

/** Of the transcript, the entries that were told then, too. */
function withoutNew(now: unknown, then: unknown): Told[] {
  const known = new Set((then as Told[]).map(({ kind, seq }) => `${kind} ${seq}`))
  return asToldNow(now).filter(({ kind, seq }) => known.has(`${kind} ${seq}`))
}

/**
 * What transcripts tell otherwise since then: a failed effect by its call and no longer beside it, a model call on the tape by
 * its messages, and with the end of a function its output.
 */
const asToldNow = (then: unknown): Told[] =>
  (then as Told[])
    .filter(({ kind, stepId }) => kind !== 'failure' || stepId === null)
    .filter(({ stepId }) => !/(?:^|\/)fetch(?:#| body@)\d+$/.test(stepId ?? ''))
    .map((entry) => (entry.kind === 'end' && entry.output === null ? withoutOutput(entry) : entry))

/** Messages of a state did not count then. */
const withoutUncounted = (view: object): object =>
  JSON.parse(
    JSON.stringify(view, (key, value: unknown) =>
      (key === 'messages' || key === 'toolCalls') && value === 0 ? undefined : value,
    ),
  ) as object

const withoutOutput = ({ output: _none, ...entry }: Told): Told => entry

/** Each ledger has a key of its own, so the same secret has another fingerprint here. */
const withoutFingerprints = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/\[redacted:([a-z0-9-]+):[0-9a-f]+\]/g, '[redacted:$1]'))

test('D5 there are histories of every version, this one included', () => {
  for (let version = 0; version <= SCHEMA_VERSION; version++)
    expect(names.filter((name) => name.startsWith(`schema-${version}/`)).length).toBeGreaterThan(15)
})

describe.each(names)('%s', (name) => {
  test('D7 L11 it loads, verifies, and what people see of it is what they saw when it was recorded', async () => {
    const ledger = await load(name)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, problems: [] })
    const views = await viewsOf(ledger)
    const recorded = parseViews(textOf(`${name}.views`))
    expect(views.map(({ runId }) => runId)).toEqual(recorded.map(({ runId }) => runId))
    // A later version may tell more, never something else.
    for (const [at, { transcript, ...view }] of recorded.entries()) {
      expect(views[at]).toMatchObject(withoutUncounted(view))
      expect(withoutNew(views[at]?.['transcript'], transcript)).toMatchObject(asToldNow(transcript))
    }
    expect((await Array.fromAsync(ledger.export())).join('')).toBe(textOf(name))
  })

  test('L6 its hashes are those of its version, by an independent reading', () => {
    const heads = new Map<string, string>()
    const version = Number(/schema-(\d+)/.exec(name)?.[1])
    for (const text of textOf(name).trimEnd().split('\n')) {
      const line = JSON.parse(text) as SealedLine
      const { correlation_id: runId, payload, ledger } = line
      const { sourceRunId, sourceSeq } = payload as { sourceRunId?: string; sourceSeq?: number }
      const isFork = line.event_type === 'system.workflow_forked'
      const before = isFork ? `${sourceRunId} ${sourceSeq}` : `${runId} ${ledger.seq - 1}`
      expect(ledger.schema_version).toBe(version)
      expect(payloadHashOf(line)).toBe(ledger.payload_hash)
      expect(hashOf(line, heads.get(before) ?? '0'.repeat(64))).toBe(ledger.hash)
      heads.set(`${runId} ${ledger.seq}`, ledger.hash)
    }
  })

  test('D1 D5 D7 the code that made it does it again, without a call outside and without an event', async () => {
    const ledger = await load(name)
    const position = await ledger.lastPosition()
    for (const { runId, agent } of (await ledger.listRuns()).runs) {
      const target = agentOf(agent)
      if (target === undefined) continue
      const report = await replay(target, { ledger, runId })
      expect(report).toMatchObject({ verdict: 'identical', divergences: [], sourceRunId: runId })
      expect(withoutFingerprints(report.outcome)).toEqual(withoutFingerprints(report.recorded))
      expect(report.path.every(({ match }) => match === 'same')).toBe(true)
    }
    expect(await ledger.lastPosition()).toBe(position)
  })
})

test('D5 only runs that other frameworks executed have no agent here', async () => {
  const without = new Set<string>()
  for (const name of names)
    for (const { agent, steps } of (await (await load(name)).listRuns()).runs)
      if (!agentOf(agent) && steps > 0) without.add(name.replace(/^schema-[\d.]+\//, ''))
  expect([...without].toSorted()).toEqual(['langchain', 'langgraph-saver'])
})
