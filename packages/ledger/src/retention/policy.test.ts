import { describe, expect, it } from 'vitest'
import { parsePolicy } from './policy.ts'

const rule = (rest: object) => ({ rules: [{ name: 'r', ...rest }] })

describe('P4 a retention policy', () => {
  it('P4 is read with its units', () => {
    expect(
      parsePolicy({
        rules: [
          { olderThan: '90d' },
          { name: 'few', match: { agent: 'a', status: ['completed'] }, newest: 10 },
          { match: { workspace: 'w' }, maxBytes: '1.5GB' },
          { match: { layer: 'session' }, olderThan: '30d' },
        ],
        keep: [{ match: { agent: 'b' }, youngerThan: '1y' }],
      }),
    ).toMatchObject({
      rules: [
        { name: 'rule 1', olderThanMs: 90 * 86_400_000 },
        { name: 'few', newest: 10 },
        { name: 'rule 3', maxBytes: 1_500_000_000 },
        { match: { layer: 'session' } },
      ],
      keep: [{ name: 'keep 1', youngerThanMs: 365 * 86_400_000 }],
    })
  })

  it.each([
    ['no object', 7, 'the policy'],
    ['no rules', {}, 'rules'],
    ['an unknown field', { rules: [], retain: 1 }, 'the policy.retain'],
    ['no limit', rule({}), 'rules[0]'],
    ['several limits', rule({ newest: 1, olderThan: '1d' }), 'rules[0]'],
    ['an age that is none', rule({ olderThan: '90' }), 'rules[0].olderThan'],
    ['an age of nothing', rule({ olderThan: '0d' }), 'rules[0].olderThan'],
    ['a count below nothing', rule({ newest: -1 }), 'rules[0].newest'],
    ['a size that is none', rule({ maxBytes: '10 apples' }), 'rules[0].maxBytes'],
    ['an unknown status', rule({ match: { status: ['done'] }, newest: 1 }), 'rules[0].match.status'],
    [
      'pending runs by their number',
      rule({ match: { status: ['pending'] }, newest: 1 }),
      'rules[0].match.status',
    ],
    [
      'a status of runs that live',
      rule({ match: { status: ['paused'] }, newest: 1 }),
      'rules[0].match.status',
    ],
    ['an unknown layer', rule({ match: { layer: 'eternal' }, olderThan: '1d' }), 'rules[0].match.layer'],
    ['the audit run', rule({ match: { systemRun: 'audit' }, olderThan: '1d' }), 'rules[0].match.systemRun'],
    [
      'system runs of an agent',
      rule({ match: { systemRun: 'stream', agent: 'a' }, newest: 1 }),
      'rules[0].match',
    ],
    [
      'types without which a run means nothing',
      rule({ match: { types: ['execution.step_completed'] }, olderThan: '1d' }),
      'rules[0].match.types',
    ],
    [
      'a number of events of a type',
      rule({ match: { types: ['execution.reasoning'] }, newest: 3 }),
      'rules[0]',
    ],
    ['bytes of system runs', rule({ match: { systemRun: 'stream' }, maxBytes: 1 }), 'rules[0]'],
    [
      'a name that stands twice',
      {
        rules: [
          { name: 'r', newest: 1 },
          { name: 'r', olderThan: '1d' },
        ],
      },
      'the name r',
    ],
    ['two limits of the same kind', { rules: [{ newest: 1 }, { newest: 2 }] }, 'rule 2'],
    [
      'a rule that another keeps all of',
      { rules: [{ match: { agent: 'a' }, newest: 1 }], keep: [{}] },
      'rule 1',
    ],
    [
      'the same by status',
      {
        rules: [{ name: 'x', match: { status: ['failed'] }, newest: 1 }],
        keep: [{ match: { status: ['failed', 'stopped'] } }],
      },
      'x',
    ],
  ])('P4 with %s is refused, and the error says where', (_, given, path) => {
    expect(() => parsePolicy(given)).toThrow(
      expect.objectContaining({ code: 'bad_option', fields: { option: 'retention', path } }) as Error,
    )
  })

  it('P4 that keeps some of what a rule takes is fine', () => {
    expect(parsePolicy({ rules: [{ newest: 1 }], keep: [{ match: { agent: 'a' } }] }).keep).toHaveLength(1)
    expect(
      parsePolicy({ rules: [{ match: { agent: 'a' }, newest: 1 }], keep: [{ youngerThan: '1d' }] }).keep,
    ).toHaveLength(1)
  })
})
