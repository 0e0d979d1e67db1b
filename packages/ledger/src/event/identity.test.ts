import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createIdentities } from './identity.ts'
import { createRedactor, type RedactionRule } from '../redact/redact.ts'

const SECRET = 'a secret for tests that is long enough'

function identitiesWith(rules: readonly RedactionRule[], secret = SECRET) {
  const redactor = createRedactor({ rules }, () => 'f1f2f3f4f5')
  return { redactor, ...createIdentities(nodePorts.sha256, secret, redactor) }
}

const plain = identitiesWith([])
const ruled = identitiesWith([{ kind: 'case', pattern: /case-\d+/ }])
const renamed = identitiesWith([{ kind: 'file', pattern: /case-\d+/ }])

describe('P1 names that redaction changes', () => {
  it('P1 are stored as given where redaction leaves them alone, else by a keyed digest', () => {
    const [given, id] = plain.identity('case-1').names
    expect(given).toBe('case-1')
    expect(id).toMatch(/^id-[0-9a-f]{20}$/)
    expect(plain.identity('case-1')).toEqual({ stored: given, names: [given, id] })
    expect(ruled.identity('case-1')).toEqual({ stored: id, names: [given, id] })
    expect(renamed.identity('case-1')).toEqual(ruled.identity('case-1'))
  })

  it('P2 need the secret of the ledger to be guessed', () => {
    const other = identitiesWith([], 'another secret that is long enough')
    expect(other.identity('case-1').names[1]).not.toBe(plain.identity('case-1').names[1])
    expect(other.keyedDigest({ a: 1 })).not.toBe(plain.keyedDigest({ a: 1 }))
  })

  it('P1 an id form stays as it is, also where a rule would find it', () => {
    const greedy = identitiesWith([{ kind: 'hex', pattern: /[0-9a-f]{20}/ }])
    const id = ruled.identity('case-1').stored
    expect(greedy.identity(id)).toEqual({ stored: id, names: [id] })
    const payload = { threadId: id }
    const clean = greedy.redactor.value(payload).value as { threadId: string }
    expect(clean).not.toEqual(payload)
    expect(greedy.keepNames('system.workflow_started', payload, clean)).toEqual(payload)
  })

  it('P1 are the same in both forms, and no others are', () => {
    const id = ruled.identity('case-1').stored
    expect(plain.isSame('case-1', id)).toBe(true)
    expect(plain.isSame(id, 'case-1')).toBe(true)
    expect(plain.isSame('case-2', id)).toBe(false)
  })
})

describe('P1 payloads', () => {
  const redacted = (eventType: string, payload: never, options = {}): unknown =>
    ruled.keepNames(eventType, payload, ruled.redactor.value(payload).value as never, options)
  const id = ruled.identity('case-1').stored

  it('P1 keep links to runs, whose ids stand in envelopes as they are, and the name of the agent', () => {
    const links = {
      parentRunId: 'case-1',
      childRunId: 'run case-1',
      sourceRunId: 'case-1',
      runId: 'case-1',
      agent: 'a case-1',
    }
    expect(redacted('system.workflow_started', { ...links, note: 'case-1' } as never)).toEqual({
      ...links,
      note: '[redacted:case:f1f2f3f4f5]',
    })
  })

  it('P1 keep names by which something is found, and nothing else', () => {
    const payload = {
      threadId: 'case-1',
      subjects: ['ann', 'case-1'],
      session: { streamId: 'case-1', persona: { name: 'case-1' } },
      target: { subject: 'case-1' },
      input: { threadId: 'case-1' },
      key: 'case-1',
    }
    const placeholder = '[redacted:case:f1f2f3f4f5]'
    expect(redacted('system.workflow_started', payload as never)).toEqual({
      threadId: id,
      subjects: ['ann', id],
      session: { streamId: id, persona: { name: placeholder } },
      target: { subject: id },
      input: { threadId: placeholder },
      key: placeholder,
    })
  })

  it('P1 M1 of memory keep namespaces by their parts, keys and tags', () => {
    const payload = { namespace: 'a/case-1/b', key: 'case-1', tags: ['case-1', 'x'], value: 'case-1' }
    expect(redacted('execution.memory_written', payload as never)).toEqual({
      namespace: `a/${id}/b`,
      key: id,
      tags: [id, 'x'],
      value: '[redacted:case:f1f2f3f4f5]',
    })
  })

  it('P1 keep the step ids of readings of the clock', () => {
    const step = ruled.identity('s@case-1').names[1]
    const payload = { stepId: 's@case-1', clock: [['s@case-1', 5]] }
    expect(redacted('execution.step_completed', payload as never)).toEqual({
      stepId: step,
      clock: [[step, 5]],
    })
    expect(redacted('execution.step_completed', payload as never, { keepStepIds: true })).toEqual(payload)
  })
})
