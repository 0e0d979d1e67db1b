import { type ClewEvent, foldStep, type StepSkeleton } from '@clew/ledger'

/** Steps of a run in the order of their start, as pages of them come in and events change them. */
export interface StepsInOrder {
  put(step: StepSkeleton): void
  take(event: ClewEvent): void
  find(attempt: number, stepId: string): StepSkeleton | undefined
  count(): number
  /** A new list whenever something changed, else the one before. */
  list(): readonly StepSkeleton[]
}

export function createSteps(): StepsInOrder {
  const places = new Map<string, number>()
  let steps: StepSkeleton[] = []
  let isShown = false

  function put(step: StepSkeleton): void {
    // Whoever holds the list that was given may go on reading it.
    if (isShown) steps = [...steps]
    isShown = false
    const key = `${step.attempt} ${step.stepId}`
    const place = places.get(key)
    if (place !== undefined) steps[place] = step
    else {
      places.set(key, steps.length)
      steps.push(step)
    }
  }

  return {
    put,
    take(event) {
      const { stepId, attempt } = event.payload
      if (typeof stepId !== 'string') return
      const place = places.get(`${typeof attempt === 'number' ? attempt : 1} ${stepId}`)
      const before = place === undefined ? undefined : steps[place]
      const after = foldStep(before, event, steps.length)
      if (!after) return
      const { values: _, ...skeleton } = after
      put(skeleton)
    },
    find(attempt, stepId) {
      const place = places.get(`${attempt} ${stepId}`)
      return place === undefined ? undefined : steps[place]
    },
    count: () => steps.length,
    list() {
      isShown = true
      return steps
    },
  }
}
