import type { AgUiEvent } from '../src/ag-ui/index.ts'

export const plain = (events: readonly AgUiEvent[]) => events.map(({ timestamp: _, ...event }) => event)

export const RUN = { threadId: 'thread-1', runId: 'run-1' }
/** A run with everything that a stream usually has. */
export const STREAM = [
  { type: 'RUN_STARTED', ...RUN, timestamp: 1_763_190_000_000 },
  { type: 'STEP_STARTED', stepName: 'plan', timestamp: 1_763_190_000_100 },
  { type: 'REASONING_START', messageId: 'r1' },
  { type: 'REASONING_MESSAGE_START', messageId: 'r1', role: 'reasoning' },
  { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r1', delta: 'I must look.' },
  { type: 'REASONING_MESSAGE_END', messageId: 'r1' },
  { type: 'REASONING_END', messageId: 'r1' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'One moment.' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'timetable', parentMessageId: 'm1' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"pier":4}' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
  { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: '09:05', role: 'tool' },
  { type: 'STATE_SNAPSHOT', snapshot: { boats: ['one'], at: null } },
  { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/boats/-', value: 'two' }] },
  { type: 'STEP_FINISHED', stepName: 'plan' },
  { type: 'CUSTOM', name: 'mood', value: { calm: true } },
  { type: 'ACTIVITY_SNAPSHOT', messageId: 'a1', activityType: 'PLAN', content: { steps: 2 }, replace: true },
  { type: 'SOMETHING_NEW', field: [1, 2] },
  {
    type: 'RUN_FINISHED',
    ...RUN,
    result: { leaves: '09:05' },
    outcome: { type: 'success' },
    timestamp: 1_763_190_002_000,
  },
]
