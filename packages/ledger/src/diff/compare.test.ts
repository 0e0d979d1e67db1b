import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeEvents } from '../../test/make-events.ts'
import { align } from './align.ts'
import { compareItems } from './compare.ts'
import { toItems } from './items.ts'

type Step = readonly [name: string, input?: unknown, output?: unknown, more?: Record<string, unknown>]

/** A run of steps, one after the other; the ordinal counts calls of a name, as in a real run. */
function steps(list: readonly Step[]) {
  const counts = new Map<string, number>()
  return toItems(
    makeEvents(
      list.flatMap(([name, input = null, output = null, more = {}]) => {
        const ordinal = counts.get(name) ?? 0
        counts.set(name, ordinal + 1)
        const stepId = `${name}#${ordinal}`
        return [
          ['execution.step_started', { stepId, name, input, ...more }],
          ['execution.step_completed', { stepId, output, ...more }],
        ] as [string, Record<string, unknown>][]
      }),
    ),
  )
}

const chat = (list: readonly (readonly [role: string, content: unknown])[]) =>
  toItems(
    makeEvents(
      list.flatMap(([role, content], at): [string, Record<string, unknown>][] =>
        role.startsWith('!')
          ? [
              ['execution.tool_call', { toolCallId: `c${at}`, name: role.slice(1), arguments: content }],
              ['execution.tool_result', { toolCallId: `c${at}`, result: 'fine' }],
            ]
          : [['execution.message', { role, content }]],
      ),
    ),
  )

const base: readonly Step[] = [
  ['plan', { topic: 'owls' }],
  ['search', { q: 'wings' }, 3],
  ['search', { q: 'air' }, 4],
  ['write'],
]

describe('where two runs part', () => {
  const first = (a: readonly Step[], b: readonly Step[]) => compareItems(steps(a), steps(b)).first

  it('V10 nowhere, when they did the same', () => {
    const { first: found, counts, rows } = compareItems(steps(base), steps(base))
    expect([found, counts.same, rows.length]).toEqual([null, 4, 4])
  })

  it.each<[string, (list: Step[]) => Step[], object]>([
    [
      'input',
      (l) => l.with(1, ['search', { q: 'feathers' }, 3]),
      {
        expected: { stepId: 'search#0' },
        changes: [{ path: '$.q', expected: '"wings"', received: '"feathers"' }],
      },
    ],
    [
      'output',
      (l) => l.with(2, ['search', { q: 'air' }, 5]),
      { expected: { stepId: 'search#1' }, changes: [{ path: '$', expected: '4', received: '5' }] },
    ],
    [
      'decision',
      (l) => l.with(3, ['write', null, null, { decision: 'end' }]),
      { changes: [{ path: '$', expected: 'null', received: '"end"' }] },
    ],
    ['name', (l) => l.with(3, ['draw']), { expected: { name: 'write' }, received: { name: 'draw' } }],
    ['missing', (l) => l.toSpliced(1, 1), { expected: { stepId: 'search#0' }, received: { seq: 3 } }],
    [
      'extra',
      (l) => l.toSpliced(3, 0, ['check']),
      { expected: { name: 'write' }, received: { name: 'check' } },
    ],
    ['order', (l) => [l[0], l[3], l[1], l[2]] as Step[], { received: { name: 'write' } }],
  ])('V10 names a difference of %s', (kind, change, expected) => {
    const changed = change([...base])
    expect(first(base, changed)).toMatchObject({ kind, ...expected })
  })

  it('V10 a step that fails in one run only is a difference of outcome', () => {
    const failed = toItems(
      makeEvents([
        ['execution.step_started', { stepId: 'a#0', name: 'a' }],
        ['execution.step_failed', { stepId: 'a#0', error: { message: 'no' } }],
      ]),
    )
    expect(compareItems(steps([['a', undefined, 1]]), failed).first).toMatchObject({
      kind: 'output',
      changes: expect.arrayContaining([{ path: 'status', expected: 'completed', received: 'failed' }]),
    })
  })

  /** A step that fails so many times before it is done, or is given up. */
  const tried = (times: number, isDone: boolean) =>
    Array.from({ length: times }, (_, at) => at + 1).flatMap(
      (attempt): [string, Record<string, unknown>][] => [
        ['execution.step_started', { stepId: 'fetch#0', name: 'fetch', attempt, input: { url: '/a' } }],
        attempt === times && isDone
          ? ['execution.step_completed', { stepId: 'fetch#0', attempt, output: 'a page' }]
          : ['execution.step_failed', { stepId: 'fetch#0', attempt, error: { message: 'no answer' } }],
      ],
    )
  const around = (middle: [string, Record<string, unknown>][]) =>
    toItems(
      makeEvents([
        ['execution.step_started', { stepId: 'plan#0', name: 'plan' }],
        ['execution.step_completed', { stepId: 'plan#0', output: 1 }],
        ...middle,
        ['execution.step_started', { stepId: 'write#0', name: 'write' }],
        ['execution.step_completed', { stepId: 'write#0', output: 2 }],
      ]),
    )

  it('V10 attempts belong to their step: the same after more of them is no other way', () => {
    const { first, rows, counts } = compareItems(around(tried(1, true)), around(tried(3, true)))
    expect(first).toBeNull()
    expect(rows.map(({ mark, a, b }) => [mark, a?.label, b?.label])).toEqual([
      ['same', 'plan#0', 'plan#0'],
      ['attempts', 'fetch#0 {"url":"/a"}', 'fetch#0 (3 attempts) {"url":"/a"}'],
      ['same', 'write#0', 'write#0'],
    ])
    expect(rows[1]?.b?.seq).toBe(3)
    expect(counts).toMatchObject({ same: 2, attempts: 1, extra: 0, missing: 0 })
  })

  it('V10 a step that is given up in one run differs in what came of it, not in a step more', () => {
    const { first, counts } = compareItems(around(tried(2, true)), around(tried(3, false)))
    expect(first).toMatchObject({
      kind: 'output',
      expected: { label: 'fetch#0 (2 attempts) {"url":"/a"}' },
      received: { label: 'fetch#0 (3 attempts) {"url":"/a"}' },
      changes: expect.arrayContaining([{ path: 'status', expected: 'completed', received: 'failed' }]),
    })
    expect(counts).toMatchObject({ same: 2, changed: 1, extra: 0, missing: 0 })
  })

  it('V10 tells where they do the same again', () => {
    const { again } = compareItems(steps(base), steps(base.with(1, ['search', { q: 'x' }, 9])))
    expect(again).toMatchObject({ a: { stepId: 'search#1' }, b: { stepId: 'search#1' } })
  })

  it('V10 an inserted call does not make all later ones of its name differ', () => {
    const many: Step[] = Array.from({ length: 50 }, (_, q) => ['search', { q }, q])
    const { counts } = compareItems(steps(many), steps(many.toSpliced(3, 0, ['search', { q: 'new' }])))
    expect(counts).toMatchObject({ same: 50, extra: 1, changed: 0 })
  })
})

describe('chats', () => {
  const passed: readonly (readonly [string, unknown])[] = [
    ['system', 'Be kind'],
    ['user', 'Hi, I want to change my flight to Newark'],
    ['!get_user', { id: 'olivia' }],
    ['assistant', 'I found your bookings, which one is it?'],
    ['!cancel', { id: 'Z7' }],
  ]

  it('V10 other words are told apart from another way', () => {
    const failed = [
      ['system', 'Be kind'],
      ['user', 'Hello there, my flight must be changed'],
      ['assistant', 'I am sorry, I need your booking number first'],
    ] as const
    const { first, wording, counts } = compareItems(chat(passed), chat(failed))
    expect(first).toMatchObject({ kind: 'missing', expected: { label: 'get_user({"id":"olivia"})' } })
    expect(wording).toMatchObject({ kind: 'input', expected: { name: 'user' } })
    expect(counts).toMatchObject({ same: 1, wording: 2, missing: 2 })
  })

  it('V10 words alone are the difference when there is no other', () => {
    const other = passed.with(3, ['assistant', 'Here they are, which of them do you mean?'])
    expect(compareItems(chat(passed), chat(other))).toMatchObject({
      first: { kind: 'output' },
      wording: null,
    })
  })

  it('V10 instructions are compared to the letter', () => {
    expect(compareItems(chat(passed), chat(passed.with(0, ['system', 'Be very kind']))).first).toMatchObject({
      kind: 'input',
      expected: { name: 'system' },
    })
  })

  it('V10 arguments in another spelling are the same', () => {
    const spelt = passed.with(2, ['!get_user', '{ "id": "olivia" }'])
    expect(compareItems(chat(passed), chat(spelt)).first).toBeNull()
  })
})

describe('model steps', () => {
  const model = (output: unknown, decision: unknown = null): Step => [
    'think',
    undefined,
    output,
    { kind: 'model', decision },
  ]
  const call: Step = ['search', { q: 'wings' }, 3]
  const base: readonly Step[] = [
    model(null, ['search']),
    call,
    model('Owls have soft feathers on their wings'),
  ]
  const compare = (other: readonly Step[]) => compareItems(steps(base), steps(other))

  it('V10 what a model writes are words, what it decides is not', () => {
    expect(compare(base.with(2, model('Their wings are soft, and so they are quiet')))).toMatchObject({
      counts: { same: 2, wording: 1 },
      first: { kind: 'output' },
    })
    expect(compare(base.with(0, model('I will look it up', ['search']))).counts).toMatchObject({
      same: 2,
      wording: 1,
    })
    expect(compare([model('I know that by heart, it is the feathers'), base[2] as Step]).first).toMatchObject(
      {
        expected: { label: 'think#0 → search' },
      },
    )
  })

  it('V10 a verdict in one word is data', () => {
    const verdict = (word: string) => steps([model(word)])
    expect(compareItems(verdict('spam'), verdict('ham')).counts).toMatchObject({ changed: 1, wording: 0 })
  })
})

const anyStep = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(3), fc.nat(2)) as fc.Arbitrary<Step>

describe('alignment', () => {
  it('V10 rises on both sides and pairs only like with like', () => {
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 40 }),
        fc.array(anyStep, { maxLength: 40 }),
        (left, right) => {
          const a = steps(left)
          const b = steps(right)
          const pairs = align(a, b)
          for (const [at, pair] of pairs.entries()) {
            expect(a[pair.a]?.keys.weak).toBe(b[pair.b]?.keys.weak)
            const next = pairs[at + 1]
            if (next) expect([next.a > pair.a, next.b > pair.b]).toEqual([true, true])
          }
          const { rows } = compareItems(a, b)
          expect(rows.flatMap((row) => row.a?.index ?? [])).toEqual(a.map((_, at) => at))
          expect(rows.flatMap((row) => row.b?.index ?? [])).toEqual(b.map((_, at) => at))
        },
      ),
    )
  })

  it('V10 a planted change is the one that is found', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 60 }), fc.nat(), (list, where) => {
        const at = where % list.length
        const changed = list.with(at, [list[at]?.[0] ?? 'a', 'planted', list[at]?.[2]])
        const { first, counts } = compareItems(steps(list), steps(changed))
        expect(counts.same).toBeGreaterThanOrEqual(list.length - 1)
        expect(first?.kind).toBe('input')
        expect(first?.expected?.index).toBe(at)
      }),
    )
  })

  it('V10 ten thousand unlike steps are paired by name and number', () => {
    const many = (salt: string): Step[] =>
      Array.from({ length: 10_000 }, (_, i) => [`n${i % 7}`, `${salt}${i}`, i])
    const { counts } = compareItems(steps(many('x')), steps(many('y')))
    expect(counts.changed).toBe(10_000)
  })
})
