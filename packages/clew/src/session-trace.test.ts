import { describe, expectTypeOf, it } from 'vitest'
import type { SessionTrace as HandlerTrace } from './langchain.ts'
import type { SessionTrace } from './index.ts'

describe('T1 the session that a TraceEmitter gives', () => {
  it('A4 is one that the LangChain callbacks can write to', () => {
    expectTypeOf<SessionTrace>().toExtend<HandlerTrace>()
  })
})
