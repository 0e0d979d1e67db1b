import { keep, type Native, needText } from './native.ts'
import { plainText } from '../foreign.ts'
import { failRun, finishRun, startRun } from './read-run.ts'
import { changeState, setState } from './read-state.ts'
import { finishStep, finishSubagent, openStep } from './read-steps.ts'
import {
  addChunk,
  addDelta,
  closeCall,
  closeText,
  closeThought,
  giveResult,
  openCall,
  openText,
} from './read-texts.ts'

type Mapping = (native: Native) => void

/** Mapping of each AG-UI type. Other types are stored unchanged. */
export const MAPPINGS: Readonly<Record<string, Mapping>> = {
  RUN_STARTED: startRun,
  RUN_FINISHED: finishRun,
  RUN_ERROR: failRun,
  STEP_STARTED: (native) =>
    openStep(native, needText(native.event, 'stepName'), 'step', ['stepName'], (step) =>
      native.scene.steps.push(step),
    ),
  STEP_FINISHED: finishStep,
  SUBAGENT_STARTED: (native) =>
    openStep(
      native,
      plainText(native.event['name']) ?? 'subagent',
      'agent',
      ['name', 'subagentRunId'],
      (step) => native.scene.subagents.set(needText(native.event, 'subagentRunId'), step),
    ),
  SUBAGENT_FINISHED: (native) => finishSubagent(native, false),
  SUBAGENT_ERROR: (native) => finishSubagent(native, true),
  TEXT_MESSAGE_START: (native) => openText(native, native.scene.texts),
  TEXT_MESSAGE_CONTENT: (native) => addDelta(native, native.scene.texts, 'messageId'),
  TEXT_MESSAGE_END: (native) => closeText(native.scene, needText(native.event, 'messageId')),
  TEXT_MESSAGE_CHUNK: (native) => addChunk(native, 'text'),
  REASONING_START: () => undefined,
  REASONING_MESSAGE_START: (native) => openText(native, native.scene.thoughts),
  REASONING_MESSAGE_CONTENT: (native) => addDelta(native, native.scene.thoughts, 'messageId'),
  REASONING_MESSAGE_END: (native) => closeThought(native.scene, needText(native.event, 'messageId')),
  REASONING_MESSAGE_CHUNK: (native) => addChunk(native, 'thought'),
  REASONING_END: () => undefined,
  // The names before 1.0, without ids.
  THINKING_START: () => undefined,
  THINKING_TEXT_MESSAGE_START: (native) => openText(native, native.scene.thoughts, ''),
  THINKING_TEXT_MESSAGE_CONTENT: (native) => addDelta(native, native.scene.thoughts, 'messageId', ''),
  THINKING_TEXT_MESSAGE_END: ({ scene }) => closeThought(scene, ''),
  THINKING_END: () => undefined,
  TOOL_CALL_START: openCall,
  TOOL_CALL_ARGS: (native) => addDelta(native, native.scene.calls, 'toolCallId'),
  TOOL_CALL_END: (native) => closeCall(native.scene, needText(native.event, 'toolCallId')),
  TOOL_CALL_CHUNK: (native) => addChunk(native, 'call'),
  TOOL_CALL_RESULT: giveResult,
  STATE_SNAPSHOT: (native) => setState(native) || keep(native),
  STATE_DELTA: (native) => changeState(native) || keep(native),
}
