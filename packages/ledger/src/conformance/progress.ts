import type { Ledger } from '../ledger.ts'
import { MAX_NOTES, NOTE_TTL_MS, type ProgressNote } from '../progress/progress.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { note as event, readAll, type StoreTest, upTo } from './world.ts'

const noteOf = (stepId: string, version: number, more: Partial<ProgressNote> = {}): ProgressNote => ({
  runId: 'r',
  stepId,
  attempt: 1,
  stepType: 'thinking',
  version,
  content: `text ${version} of ${stepId} `,
  at: '2026-11-15T07:17:00.000Z',
  ...more,
})

const textOf = (note: ProgressNote | undefined): string => JSON.stringify(note?.content)

const shown = async (ledger: Ledger, runId?: string): Promise<string[]> =>
  (await ledger.progress.read({ runId, limit: 10_000 })).notes.map(
    ({ stepId, version }) => `${stepId} ${version}`,
  )

export const progressTests: readonly StoreTest[] = [
  {
    rule: 'T4',
    title: 'a progress takes the place of the one before it, and reads back as it was put',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      await one.progress.put([noteOf('a', 1), noteOf('b', 2)])
      const { notes, cursor } = await two.progress.read()
      assertEqual(notes, [noteOf('a', 1), noteOf('b', 2)], 'notes')
      await one.progress.put([noteOf('a', 3, { content: { found: [1, null] } }), noteOf('a', 4)])
      assertEqual((await two.progress.read({ after: cursor })).notes, [noteOf('a', 4)], 'what changed')
      assertEqual(await shown(two), ['b 2', 'a 4'], 'one of each step')
      const odd = 'nul \u0000, half \ud800, quote " and 🦉 '
      await two.progress.put([noteOf('a', 5, { attempt: 2, content: [odd] })])
      const [last] = (await one.progress.read({ runId: 'r' })).notes.slice(-1)
      assertEqual([last?.attempt, last?.content], [2, [odd]], 'another attempt, and odd text')
      await one.progress.put([])
    },
  },
  {
    rule: 'T4',
    title: 'an older progress that comes late is dropped, also within one call',
    async run(world) {
      const ledger = await world.open()
      await ledger.progress.put([noteOf('a', 5)])
      const { cursor } = await ledger.progress.read()
      await ledger.progress.put([noteOf('a', 4)])
      await ledger.progress.put([noteOf('a', 5, { content: 'again ' })])
      assertEqual((await ledger.progress.read({ after: cursor })).notes, [], 'nothing new')
      await ledger.progress.put([noteOf('a', 9), noteOf('a', 7)])
      assertEqual(await shown(ledger), ['a 9'], 'the newest')
    },
  },
  {
    rule: 'T4',
    title: 'whoever reads on from its cursor sees the newest of every step, page by page',
    async run(world) {
      const [writer, other, reader] = [await world.open(), await world.open(), await world.open()]
      const newest = new Map<string, number>()
      const seen = new Map<string, number>()
      let after: string | undefined
      const readOn = async (): Promise<void> => {
        for (;;) {
          const page = await reader.progress.read({ after, limit: 3 })
          after = page.cursor
          for (const { stepId, version } of page.notes) seen.set(stepId, version)
          if (page.notes.length < 3) return
        }
      }
      for (const round of upTo(12)) {
        const steps = upTo(5).map((n) => `s${(n * round) % 7}`)
        await Promise.all(
          steps.map((stepId, n) => {
            const version = round * 10 + n
            newest.set(stepId, version)
            return (n % 2 ? writer : other).progress.put([noteOf(stepId, version)])
          }),
        )
        await readOn()
      }
      await readOn()
      for (const [stepId, version] of newest)
        assertEqual(seen.get(stepId), version, `the newest of ${stepId}`)
    },
  },
  {
    rule: 'T4',
    title: 'a watcher is woken by a put of anyone, and not after it has let go',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      let rings = 0
      const unwatch = two.progress.watch(() => rings++)
      await one.progress.put([noteOf('a', 1)])
      await world.until('the other is woken', () => rings > 0)
      const before = rings
      await two.progress.put([noteOf('a', 2)])
      await world.until('its own put wakes it too', () => rings > before)
      unwatch()
      const quiet = rings
      await two.progress.put([noteOf('a', 3)])
      await world.ports.sleep(100)
      assertEqual(rings, quiet, 'rings after letting go')
    },
  },
  {
    rule: 'T4',
    title: 'progress never enters the ledger',
    async run(world) {
      const ledger = await world.open()
      await ledger.record(event('r'))
      const { events, runs, values } = await ledger.stats()
      await ledger.progress.put([noteOf('a', 1)])
      const after = await ledger.stats()
      assertEqual([after.events, after.runs, after.values], [events, runs, values], 'the ledger')
      assertEqual((await readAll(ledger, 'r')).length, 1, 'events')
    },
  },
  {
    rule: 'T4',
    title: 'notes of a step, of a run, and of those that nobody renews go',
    async run(world) {
      const ledger = await world.open()
      const put = (...notes: ProgressNote[]) => ledger.progress.put(notes)
      await put(
        noteOf('a', 1),
        noteOf('a', 1, { attempt: 2 }),
        noteOf('b', 1),
        noteOf('c', 1, { runId: 'q' }),
      )
      await ledger.progress.clear('r', 'a')
      assertEqual(await shown(ledger), ['b 1', 'c 1'], 'without the step')
      await ledger.progress.clear('r')
      assertEqual(await shown(ledger), ['c 1'], 'without the run')
      await ledger.progress.clear('unknown')
      world.turnClock(NOTE_TTL_MS + 1000)
      for (const n of upTo(70)) await put(noteOf('d', n))
      assertEqual(await shown(ledger), ['d 70'], 'without the old')
    },
  },
  {
    rule: 'T4',
    title: 'it is bounded: of too many notes the oldest go',
    async run(world) {
      const ledger = await world.open()
      for (const round of upTo(72))
        await ledger.progress.put(upTo(80).map((n) => noteOf(`s${round}-${n}`, round)))
      const left = await shown(ledger)
      assert(left.length >= 1000 && left.length <= MAX_NOTES + 80 * 64, `${left.length} notes`)
      assertEqual(left.at(-1), 's72-80 72', 'the newest')
      assert(!left.includes('s1-1 1'), 'the oldest is still there')
    },
  },
  {
    rule: 'A2',
    title: 'workspaces do not see, replace or clear each other in progress',
    async run(world) {
      const [one, two] = [await world.open({ workspace: 'one' }), await world.open({ workspace: 'two' })]
      await one.progress.put([noteOf('a', 5)])
      await two.progress.put([noteOf('a', 1)])
      await one.progress.clear('r')
      assertEqual([await shown(one), await shown(two), await shown(two, 'r')], [[], ['a 1'], ['a 1']], 'seen')
    },
  },
  {
    rule: 'P1',
    title: 'progress is redacted before it is kept, also where a secret is not all there yet',
    async run(world) {
      const ledger = await world.open()
      const secret = `sk-ant-api03-${'aB3dE6gH9kLmN2pQ5sT8'.repeat(3)}`
      const whole = `I found the key ${secret} in the file, `
      for (const end of upTo(whole.length)) {
        await ledger.progress.put([noteOf('a', end, { content: whole.slice(0, end) })])
        if (end % 9 !== 0 && end !== whole.length) continue
        const [kept] = (await ledger.progress.read({ runId: 'r' })).notes
        assert(!textOf(kept).includes('sk-ant'), `a part of the secret is shown at ${end}`)
      }
      const [kept] = (await ledger.progress.read()).notes
      assert(/^"I found the key \[redacted:\S+\] in the file, "$/.test(textOf(kept)), textOf(kept))
      await ledger.progress.put([noteOf('b', 1, { content: { password: 'hunter2hunter2', q: 'owls' } })])
      const [, json] = (await ledger.progress.read()).notes
      assertEqual(JSON.stringify(json?.content).includes('hunter2'), false, 'JSON is redacted by key')
    },
  },
  {
    rule: 'T4',
    title: 'a note that is no note is refused, and long text keeps its end',
    async run(world) {
      const ledger = await world.open()
      const refused = (more: Partial<ProgressNote>, code: 'bad_value' | 'too_large', field?: string) =>
        assertRefused(
          () => ledger.progress.put([noteOf('ok', 1), noteOf('a', 1, more)]),
          code,
          field ? { field } : {},
        )
      await refused({ attempt: 0 }, 'bad_value', 'attempt')
      await refused({ version: 1.5 }, 'bad_value', 'version')
      await refused({ stepId: 7 as never }, 'bad_value', 'stepId')
      await refused({ content: undefined as never }, 'bad_value', 'content')
      await refused({ content: ['x'.repeat(70_000)] }, 'too_large')
      assertEqual(await shown(ledger), [], 'nothing of a refused call is kept')
      await ledger.progress.put([noteOf('a', 1, { content: `${'word '.repeat(20_000)}the end ` })])
      const [kept] = (await ledger.progress.read()).notes
      const text = textOf(kept)
      assert(
        text.startsWith('"…') && text.endsWith('the end "') && text.length < 66_000,
        'the end of a long text',
      )
    },
  },
]
