/** AG-UI events as events of a ledger, and a run of a ledger as AG-UI events. */
export {
  type AgUiEvent,
  type AgUiMapper,
  type AgUiProblem,
  type AgUiStream,
  createAgUiMapper,
  createAgUiStream,
  fromAgUiEvents,
  type FromAgUiOptions,
  toAgUiEvents,
  type ToAgUiOptions,
} from '@clew/adapters/ag-ui'
