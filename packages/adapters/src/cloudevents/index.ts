export {
  type CloudEventHeaders,
  type CloudEventProblem,
  fromCloudEvents,
  type FromCloudEventsResult,
} from './from-cloud-events.ts'
