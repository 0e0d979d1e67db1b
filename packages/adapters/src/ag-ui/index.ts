export type { AgUiEvent } from './ag-ui-event.ts'
export {
  type AgUiMapper,
  type AgUiProblem,
  createAgUiMapper,
  fromAgUiEvents,
  type FromAgUiOptions,
} from './from-ag-ui.ts'
export { type AgUiStream, createAgUiStream, toAgUiEvents, type ToAgUiOptions } from './to-ag-ui.ts'
