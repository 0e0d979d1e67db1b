import type { Ledger } from '@clew/ledger'
import {
  agent,
  append,
  command,
  last,
  recordAnswers,
  replay,
  type Run,
  send,
  START,
  StateGraph,
} from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife, unheard } from './mortal-ledger.ts'
import { eventsOf, flawsOf } from './worlds.ts'

const CODE = 'CODE-123456'
const OTHER = 'CODE-654321'
const KEY = ['sk', 'ant', 'api03', 'a1B2c3D4e5'.repeat(9)].join('-')
const REDACT = { redact: { rules: [{ kind: 'code', pattern: /CODE-\d{6}/ }] } }
const open = (): Ledger => createMemoryWorld().open('default', REDACT)
const PLACEHOLDER = /\[redacted:code:[0-9a-f]+\]/

/** Reads something, waits, and gives back what it read. */
const reading = (value: unknown, options: object = {}) =>
  agent('reading', async (run: Run) => {
    const got = await run.effect('read', null, () => value, options)
    await run.interrupt('Go on?')
    return got
  })

describe('P2 a placeholder inside a longer text', () => {
  it('P2 is handed out: the run goes on, and warns with step, path and kind, in the result and in the record', async () => {
    const ledger = open()
    const texts = reading({ files: [{ text: `token=${CODE} end` }] })
    const { runId, warnings: none } = await texts.start(ledger, null)
    const { status, output, warnings } = await texts.resume(ledger, runId, { answer: 1 })
    expect([status, none]).toEqual(['completed', []])
    expect(output).toEqual({ files: [{ text: expect.stringMatching(/^token=\[redacted:code:\w+\] end$/) }] })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/\(code\) at \$\.files\[0\]\.text of step read#0/)
    expect((await eventsOf(ledger, runId)).at(-1)?.payload).toEqual({ warnings })
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('P2 in the input of the run, in a recorded answer, in what a child gave: the same', async () => {
    const ledger = open()
    const child = agent('child', async () => `child ${CODE}`)
    const mixed = agent('mixed', async (run: Run, input: string) => {
      const below = await run.child(child, null)
      const answer = await run.interrupt<string>('Text?')
      await run.interrupt('Go on?')
      return [input, below, answer]
    })
    const { runId } = await mixed.start(ledger, `input ${CODE}`)
    await recordAnswers(ledger, runId, { answer: `answer ${CODE}` })
    await mixed.resume(ledger, runId)
    const { status, output, warnings } = await mixed.resume(ledger, runId, { answer: 1 })
    expect(status).toBe('completed')
    for (const text of output as string[]) expect(text).toMatch(PLACEHOLDER)
    expect(warnings.map((text) => / of (.*?):/.exec(text)?.[1])).toEqual([
      'the input',
      'step child#0',
      'step interrupt#0',
    ])
  })

  it('P2 an effect that says refresh runs again, and gives the original', async () => {
    const ledger = open()
    const fresh = reading(`token=${CODE}`, { refresh: true })
    const { runId } = await fresh.start(ledger, null)
    expect(await fresh.resume(ledger, runId, { answer: 1 })).toMatchObject({
      output: `token=${CODE}`,
      warnings: [],
    })
  })

  it('D2 code that parses it and goes another way is blocked, and the message names the step it came from', async () => {
    const ledger = open()
    const parsing = agent('parsing', async (run: Run) => {
      const text = await run.effect('read', null, () => `${CODE} is short`)
      await run.effect('count', { length: text.length }, () => null)
      await run.interrupt('Go on?')
      return 'done'
    })
    const { runId } = await parsing.start(ledger, null)
    const blocked = await parsing.resume(ledger, runId, { answer: 1 })
    expect(blocked.divergence).toMatchObject({
      kind: 'input',
      stepId: 'count#0',
      redactedFrom: ['step read#0 ($)'],
    })
    expect(blocked.error?.message).toMatch(
      /another input .* redacted text from step read#0 \(\$\).*resume\(\{ secrets \}\)/,
    )
    const event = (await eventsOf(ledger, runId)).at(-1)
    expect(event?.payload).toMatchObject({ stepId: 'count#0', redactedFrom: ['step read#0 ($)'] })
    expect((await parsing.resume(ledger, runId, { secrets: [CODE] })).status).toBe('completed')
  })

  it('P2 a call that the record lacks where the code ends early names it too', async () => {
    const ledger = open()
    const early = agent('early', async (run: Run) => {
      const text = await run.effect('read', null, () => `x ${CODE}`)
      if (!text.endsWith(CODE)) return 'early'
      await run.effect('more', null, () => null)
      return run.interrupt('Go on?')
    })
    const { runId } = await early.start(ledger, null)
    const blocked = await early.resume(ledger, runId, { answer: 1 })
    expect(blocked.divergence).toMatchObject({ kind: 'missing', redactedFrom: ['step read#0 ($)'] })
  })
})

describe('P2 a value that is a placeholder as a whole', () => {
  it.each<[string, unknown, string]>([
    ['a value', { deep: [CODE] }, '$.deep[0]'],
    ['the result itself', CODE, '$'],
    ['a key', { [CODE]: 1 }, '$["[redacted:code:'],
    ['an item of a map', new Map([['k', CODE]]), '$.k'],
  ])('P2 %s is not handed to code: blocked with step, path, kind and what to do', async (_, value, path) => {
    const ledger = open()
    const whole = reading(value)
    const { runId } = await whole.start(ledger, null)
    const { status, divergence, error } = await whole.resume(ledger, runId, { answer: 1 })
    expect([status, divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: 'read#0', secretKind: 'code', expected: expect.stringContaining(path) },
    ])
    expect(error?.message).toContain('step read#0 was redacted at')
    expect(error?.message).toMatch(/\(code\).*resume\(\{ secrets \}\).*vault.*refresh: true/)
    const event = (await eventsOf(ledger, runId)).at(-1)
    expect(event?.payload).toMatchObject({ path: divergence?.expected, secretKind: 'code' })
    const done = await whole.resume(ledger, runId, { secrets: [CODE] })
    expect([done.status, done.output]).toEqual(['completed', value])
  })

  it('P2 a cached result is not given to another run: it is made again', async () => {
    const ledger = open()
    let calls = 0
    const cached = agent('cached', (run: Run, value: unknown) =>
      run.effect('make', value, () => (++calls, value), { cache: true }),
    )
    for (const [value, more] of [
      [{ key: CODE }, 2],
      ['plain', 1],
    ] as const) {
      const before = calls
      await cached.start(ledger, value)
      expect((await cached.start(ledger, value)).output).toEqual(value)
      expect(calls - before).toBe(more)
    }
  })
})

describe('P2 resume with secrets', () => {
  const mixed = reading({ key: CODE, text: `a ${OTHER} b ${CODE}`, [OTHER]: 1, api: KEY })

  it.each<[string, readonly unknown[], RegExp]>([
    ['another text', ['CODE-999999'], /Of 1 secrets, 1 fit no placeholder .*: number 1/],
    ['one that fits and one that does not', [CODE, 'CODE-999999'], /Of 2 secrets, 1 .*: number 2/],
    ['a part of it', [CODE.slice(0, -1)], /1 fit no placeholder/],
    ['nothing', [''], /no text, or an empty one/],
    ['no text', [null], /no text, or an empty one/],
  ])('P2 refuses %s, without saying it, and changes nothing', async (_, secrets, message) => {
    const ledger = open()
    const { runId } = await mixed.start(ledger, null)
    const before = await eventsOf(ledger, runId)
    const failure = mixed.resume(ledger, runId, { answer: 1, secrets: secrets as string[] })
    await expect(failure).rejects.toThrow(message)
    await expect(failure).rejects.not.toThrow('999999')
    expect(await eventsOf(ledger, runId)).toEqual(before)
  })

  it('P2 gives the originals, whole, inside text and as keys, and stores none of them', async () => {
    const ledger = open()
    const { runId } = await mixed.start(ledger, null)
    const { output, warnings } = await mixed.resume(ledger, runId, { answer: 1, secrets: [KEY, OTHER, CODE] })
    expect(output).toEqual({ key: CODE, text: `a ${OTHER} b ${CODE}`, [OTHER]: 1, api: KEY })
    expect(warnings).toEqual([])
    const stored = JSON.stringify(await eventsOf(ledger, runId))
    for (const secret of [CODE, OTHER, KEY]) expect(stored).not.toContain(secret)
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('P2 some of them are enough where the rest stands inside text', async () => {
    const ledger = open()
    const some = reading({ key: CODE, text: `a ${OTHER}` })
    const { runId } = await some.start(ledger, null)
    const { output, warnings } = await some.resume(ledger, runId, { answer: 1, secrets: [CODE] })
    expect(output).toMatchObject({ key: CODE, text: expect.stringMatching(PLACEHOLDER) })
    expect(warnings).toHaveLength(1)
  })

  it('P2 reaches child runs, the input of the run, answers, and the names of steps stay as they were', async () => {
    const ledger = open()
    const child = agent('child', async (run: Run) => {
      const key = await run.effect('key', null, () => KEY)
      await run.interrupt('Child?')
      return key
    })
    const parent = agent('parent', async (run: Run, input: { code: string }) => {
      const named = await run.effect('named', null, () => 1, { key: `k ${CODE}` })
      const answer = await run.interrupt('Code?')
      return [input.code, named, answer, await run.child(child, null)]
    })
    const { runId } = await parent.start(ledger, { code: CODE })
    await recordAnswers(ledger, runId, { answer: OTHER })
    const asked = await parent.resume(ledger, runId, { secrets: [CODE, OTHER] })
    expect(asked.status).toBe('paused')
    const { output } = await parent.resume(ledger, runId, { answer: 1, secrets: [KEY, CODE, OTHER] })
    expect(output).toEqual([CODE, 1, OTHER, KEY])
  })

  it('P2 of a map: the items that are gone on with', async () => {
    const ledger = open()
    const item = agent('item', async (run: Run, n: number) => {
      const code = await run.effect('code', n, () => `CODE-00000${n}`)
      await run.interrupt('Go on?')
      return code
    })
    const first = await item.map(ledger, [1, 2], { runId: 'm' })
    const answers = Object.fromEntries(
      first.items.flatMap(({ pauses }) => pauses.map(({ pauseId }) => [pauseId, 1])),
    )
    await expect(item.map(ledger, [1, 2], { runId: 'm', answers, secrets: ['CODE-000003'] })).rejects.toThrow(
      'fit no placeholder',
    )
    const secrets = ['CODE-000001', 'CODE-000002']
    const { items } = await item.map(ledger, [1, 2], { runId: 'm', answers, secrets })
    expect(items.map(({ output }) => output)).toEqual(secrets)
  })
})

describe('R10 P2 an effect with a placeholder in its input', () => {
  /** Reads a file, dies, and writes it back with one more line. */
  const editing = (
    file: { text: string; writes: number },
    safety: 'write' | 'destructive' | 'external' | 'read',
  ) =>
    agent('editing', async (run: Run) => {
      const text = await run.effect('read', null, () => file.text)
      await run.effect('look', null, () => null)
      await run.effect(
        'save',
        { text: `${text}\nDEBUG=1` },
        (given) => {
          file.text = given.text
          file.writes++
        },
        { safety },
      )
      return 'saved'
    })

  /** The process dies after it has read the file, before it writes. */
  async function die(
    ledger: Ledger,
    file: { text: string; writes: number },
    safety: 'write' | 'read' = 'write',
  ) {
    const life = createLife(ledger, { append: 2, committed: true })
    unheard(editing(file, safety).start(life.ledger, null, { runId: 'r' }))
    await life.died
    expect(file.writes).toBe(0)
  }

  const placeholderOf = (ledger: Ledger): string => ledger.redactor.text(`x ${CODE}`)
  const env = () => ({ text: `HOST=db\nKEY=${KEY}\nCODE=${CODE}`, writes: 0 })

  it('R10 a write is not performed: the run asks, and with the secrets the file has its originals', async () => {
    const ledger = open()
    const file = env()
    const { text } = file
    await die(ledger, file)
    const asked = await editing(file, 'write').resume(ledger, 'r')
    expect([asked.status, file]).toEqual(['paused', { text, writes: 0 }])
    expect(asked.pause?.question).toMatchObject({
      redactedInput: '$.text',
      options: ['secrets', 'perform', 'abort'],
      stepId: 'save#0',
    })
    // Some of the secrets are not enough: it asks again for the others.
    const again = await editing(file, 'write').resume(ledger, 'r', { secrets: [KEY] })
    expect([again.status, again.pause?.question['kind'], file.writes]).toEqual(['paused', 'code', 0])
    const done = await editing(file, 'write').resume(ledger, 'r', { secrets: [KEY, CODE] })
    expect([done.status, file]).toEqual(['completed', { text: `${text}\nDEBUG=1`, writes: 1 }])
    expect(JSON.stringify(await eventsOf(ledger, 'r'))).not.toContain(CODE)
    expect(await flawsOf(ledger, 'r')).toEqual([])
    const report = await replay(editing(env(), 'write'), { ledger, runId: 'r' })
    expect(report.divergences).toEqual([])
  })

  it('R10 answered with perform it is performed as it is, with a warning; a death in it leaves its outcome unknown', async () => {
    const ledger = open()
    const file = env()
    await die(ledger, file)
    await editing(file, 'write').resume(ledger, 'r')
    // The answer, the cut with the new reservation; then the process dies with the write under way.
    const life = createLife(ledger, { append: 1, committed: true })
    unheard(editing(file, 'write').resume(life.ledger, 'r', { answer: 'perform' }))
    await life.died
    const asked = await editing(file, 'write').resume(ledger, 'r')
    expect(asked.pause?.question).toMatchObject({ unknown: 'outcome' })
    const { writes } = file
    const done = await editing(file, 'write').resume(ledger, 'r', { answer: 'retry' })
    expect([done.status, file.writes - writes]).toEqual(['completed', 1])
    expect(file.text).toMatch(PLACEHOLDER)
    expect(done.warnings).toContainEqual(expect.stringMatching(/Step save#0 was performed .* at \$\.text/))
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it('R10 answered with abort the step fails and nothing is performed; secrets without any are asked for again', async () => {
    const ledger = open()
    const file = env()
    await die(ledger, file)
    await editing(file, 'write').resume(ledger, 'r')
    const again = await editing(file, 'write').resume(ledger, 'r', { answer: 'secrets' })
    expect(again.pause?.question).toMatchObject({ redactedInput: '$.text' })
    const failed = await editing(file, 'write').resume(ledger, 'r', { answer: 'abort' })
    expect([failed.status, failed.error?.code, file.writes]).toEqual(['failed', 'aborted', 0])
  })

  it('R10 a read is performed, with a warning that names step, path and kind', async () => {
    const ledger = open()
    const file = env()
    await die(ledger, file, 'read')
    const done = await editing(file, 'read').resume(ledger, 'r')
    expect([done.status, file.writes]).toEqual(['completed', 1])
    expect(done.warnings.at(-1)).toMatch(/^Step save#0 .* \([a-z-]+(, code)?\) at \$\.text of its input/)
  })

  it.each(['write', 'destructive', 'external'] as const)(
    'R10 also in a run that was not resumed, and as a whole value: %s',
    async (safety) => {
      const ledger = open()
      const { runId } = await reading({ code: CODE }).start(ledger, null)
      const [read] = await ledger.getSteps(runId)
      let sent = 0
      const sending = agent('sending', (run: Run, values: unknown) =>
        run.effect('send', values, () => ++sent, { safety }),
      )
      const asked = await sending.start(ledger, read?.values)
      expect([asked.status, asked.pause?.question['redactedInput'], sent]).toEqual(['paused', '$.code', 0])
      const done = await sending.resume(ledger, asked.runId, { secrets: [CODE] })
      expect([done.status, sent]).toEqual(['completed', 1])
    },
  )

  it('R10 in a body that is tried again, one that was only asked for is not taken for a write in doubt', async () => {
    const ledger = open()
    const sent: unknown[] = []
    const seen: unknown[] = []
    const failing = agent('failing', (run: Run, text: string) =>
      run.step(
        'body',
        null,
        async (_none, inner) => {
          const send = inner.effect('send', { text }, ({ text: given }) => void sent.push(given), {
            safety: 'write',
          })
          await Promise.race([send, inner.effect('other', null, () => 1)])
          if (seen.length < 1) {
            seen.push('failed')
            throw new Error('once more')
          }
          return send
        },
        { retry: { tries: 2, delayMs: 0 } },
      ),
    )
    const asked = await failing.start(ledger, placeholderOf(ledger))
    expect([asked.status, asked.pause?.question['redactedInput'], sent]).toEqual(['paused', '$.text', []])
    const done = await failing.resume(ledger, asked.runId, { answer: 'perform' })
    expect([done.status, sent.length]).toEqual(['completed', 1])
  })

  it('R10 in a child run and in an item of a map: the secrets given to the whole reach the one that asks', async () => {
    const sent: unknown[] = []
    const child = agent('child', async (run: Run, n: number) => {
      const text = await run.effect('read', null, () => `${n}: ${CODE}`)
      await run.interrupt('Go on?')
      return run.effect('send', text, (given) => void sent.push(given), { safety: 'external' })
    })
    const parent = agent('parent', (run: Run) => run.child(child, 1))
    const ledger = open()
    const { runId } = await parent.start(ledger, null)
    const asked = await parent.resume(ledger, runId, { answer: 1 })
    expect([asked.status, asked.pause?.question['redactedInput'], sent]).toEqual(['paused', '$', []])
    expect((await parent.resume(ledger, runId, { secrets: [CODE] })).status).toBe('completed')
    const first = await child.map(ledger, [2], { runId: 'm' })
    const answers = { [first.items[0]?.pauses[0]?.pauseId ?? '']: 1 }
    expect((await child.map(ledger, [2], { runId: 'm', answers })).status).toBe('paused')
    expect((await child.map(ledger, [2], { runId: 'm', secrets: [CODE] })).status).toBe('completed')
    expect(sent).toEqual([`1: ${CODE}`, `2: ${CODE}`])
  })

  it('R10 without a ledger nobody can be asked: the step fails', async () => {
    let sent = 0
    const ledger = open()
    const graph = new StateGraph({ text: last('') })
      .addNode('send', async (state, run) => {
        await run.effect('post', state, () => ++sent, { safety: 'write' })
        return {}
      })
      .addEdge(START, 'send')
      .compile()
    const { status, error } = await graph.invoke({ text: placeholderOf(ledger) })
    expect([status, error?.code, sent]).toEqual(['failed', 'bad_option', 0])
  })
})

describe('P2 graphs', () => {
  const graphOf = (ledger: Ledger, value: unknown, seen: unknown[], safety?: 'write') =>
    new StateGraph({ note: last<unknown>(null), way: append<string>() })
      .addNode('make', () => ({ note: value }))
      .addNode('ask', async (_, run) => ({ way: await run.interrupt<string>('Go on?') }))
      .addNode(
        'use',
        ({ note }) => {
          seen.push(note)
          return { way: 'used' }
        },
        safety ? { safety } : {},
      )
      .addEdge(START, 'make')
      .addEdge('make', 'ask')
      .addEdge('ask', 'use')
      .compile({ name: 'noting', checkpointer: ledger })

  it('P2 text in the state is handed to nodes, with a warning; a whole value blocks until the secret is given', async () => {
    const ledger = open()
    const seen: unknown[] = []
    const texts = graphOf(ledger, `n ${CODE}`, seen)
    const { runId } = await texts.invoke({})
    const done = await texts.resume({ runId }, { answer: 'a' })
    expect([done.status, done.warnings.length]).toEqual(['completed', 1])
    expect(done.warnings[0]).toMatch(/\(code\) at \$\.state\.note/)
    const whole = graphOf(ledger, CODE, seen)
    const { runId: other } = await whole.invoke({})
    const blocked = await whole.resume({ runId: other }, { answer: 'a' })
    expect(blocked.divergence).toMatchObject({
      kind: 'redacted',
      expected: '$.state.note',
      secretKind: 'code',
    })
    expect((await whole.resume({ runId: other }, { secrets: [CODE] })).status).toBe('completed')
    expect(seen).toEqual([expect.stringMatching(PLACEHOLDER), CODE])
  })

  it('P2 invoke(null) takes secrets as resume does', async () => {
    const ledger = open()
    const seen: unknown[] = []
    const whole = graphOf(ledger, CODE, seen)
    const { pause } = await whole.invoke({}, { threadId: 't' })
    await recordAnswers(ledger, (await ledger.listRuns()).runs[0]?.runId ?? '', {
      answer: 'a',
      pauseId: pause?.pauseId,
    })
    expect((await whole.invoke(null, { threadId: 't', secrets: [CODE] })).status).toBe('completed')
    expect(seen).toEqual([CODE])
  })

  it('R10 a node that is declared a write asks when the state it is given has a placeholder', async () => {
    const ledger = open()
    const seen: unknown[] = []
    const writing = graphOf(ledger, `n ${CODE}`, seen, 'write')
    const { runId } = await writing.invoke({})
    const asked = await writing.resume({ runId }, { answer: 'a' })
    expect([asked.status, asked.pause?.question['redactedInput'], seen]).toEqual(['paused', '$.note', []])
    const done = await writing.resume({ runId }, { secrets: [CODE] })
    expect([done.status, seen]).toEqual(['completed', [`n ${CODE}`]])
  })

  it('P2 the next turn of a thread goes on with text; with a whole value when the secret is given', async () => {
    const world = createMemoryWorld()
    const seen: unknown[] = []
    const turn = (value: unknown) =>
      new StateGraph({ note: last<unknown>(null), way: append<string>() })
        .addNode('use', ({ note, way }) => {
          seen.push(note)
          return way.length === 1 ? { note: value } : {}
        })
        .addEdge(START, 'use')
        .compile({ name: 'turns', checkpointer: world.open('default', REDACT) })
    await turn(`n ${CODE}`).invoke({ way: 'a' }, { threadId: 't' })
    const next = await turn(null).invoke({ way: 'b' }, { threadId: 't' })
    expect([next.status, next.warnings.length]).toEqual(['completed', 1])
    await turn(CODE).invoke({ way: 'a' }, { threadId: 'u' })
    await expect(turn(null).invoke({ way: 'b' }, { threadId: 'u' })).rejects.toThrow(/redacted at \$\.note/)
    await turn(null).invoke({ way: 'b' }, { threadId: 'u', secrets: [CODE] })
    expect(seen).toEqual([null, expect.stringMatching(PLACEHOLDER), null, CODE])
  })
})

describe('P2 what a node sends', () => {
  it('P2 a whole value that was sent before a crash is not handed to the node it was sent to', async () => {
    const ledger = open()
    const seen: unknown[] = []
    const sending = new StateGraph({ way: append<string>() })
      .addNode('give', () => command({ send: send('use', { code: CODE }) }), { targets: ['use'] })
      .addNode('ask', async (_, run) => ({ way: await run.interrupt<string>('Go on?') }))
      .addNode('use', (given) => {
        seen.push(given)
        return { way: 'used' }
      })
      .addEdge(START, 'give')
      .addEdge(START, 'ask')
      .compile({ name: 'sending', checkpointer: ledger })
    const { runId } = await sending.invoke({})
    const blocked = await sending.resume({ runId }, { answer: 'a' })
    expect([blocked.status, blocked.divergence?.secretKind, seen]).toEqual(['blocked', 'code', []])
    expect((await sending.resume({ runId }, { secrets: [CODE] })).status).toBe('completed')
    expect(seen).toEqual([{ code: CODE }])
  })
})
