/** CloudEvents 1.0 from anywhere as events: `ledger.append(fromCloudEvents(body, headers).events)`. */
export {
  type CloudEventHeaders,
  type CloudEventProblem,
  fromCloudEvents,
  type FromCloudEventsResult,
} from '@clew/adapters/cloudevents'
