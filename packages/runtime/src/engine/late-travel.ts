import type { Channels } from '../graph/channel.ts'
import type { TimeTravel, TravelParts } from './time-travel.ts'

/** Time travel that is loaded with the first journey. */
export function createLateTravel<C extends Channels>(parts: TravelParts<C>): TimeTravel<C> {
  let loaded: Promise<TimeTravel<C>> | undefined
  const load = (): Promise<TimeTravel<C>> =>
    (loaded ??= import('./time-travel.ts').then(({ createTimeTravel }) => createTimeTravel<C>(parts)))

  return {
    getState: async (...given) => (await load()).getState(...given),
    getStateHistory(place) {
      async function* read() {
        yield* (await load()).getStateHistory(place)
      }
      return { [Symbol.asyncIterator]: read, toArray: () => Array.fromAsync(read()) }
    },
    getCheckpoint: async (...given) => (await load()).getCheckpoint(...given),
    updateState: async (...given) => (await load()).updateState(...given),
    fork: async (options) => (await load()).fork(options),
    retry: async (options) => (await load()).retry(options),
  }
}
