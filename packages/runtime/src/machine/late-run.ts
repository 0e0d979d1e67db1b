import type { Run } from '../run.ts'
import type { Scope } from './scope.ts'
import type { Step } from './step.ts'

type MakeRun = (scope: Scope, step: Step | undefined) => Run

/**
 * The run that a body is given, made when the body first uses it: most nodes only look at their state, and the dozen
 * functions of a run are half of what such a node would cost.
 */
export class LateRun implements Run {
  readonly #make: MakeRun
  readonly #scope: Scope
  readonly #step: Step | undefined
  #made: Run | undefined = undefined

  constructor(make: MakeRun, scope: Scope, step: Step | undefined) {
    this.#make = make
    this.#scope = scope
    this.#step = step
  }

  get #run(): Run {
    this.#made ??= this.#make(this.#scope, this.#step)
    return this.#made
  }

  get runId(): string {
    return this.#run.runId
  }
  get threadId(): string | null {
    return this.#run.threadId
  }
  get signal(): AbortSignal {
    return this.#run.signal
  }
  get step(): Run['step'] {
    return this.#run.step
  }
  get effect(): Run['effect'] {
    return this.#run.effect
  }
  get interrupt(): Run['interrupt'] {
    return this.#run.interrupt
  }
  get sleep(): Run['sleep'] {
    return this.#run.sleep
  }
  get child(): Run['child'] {
    return this.#run.child
  }
  get now(): Run['now'] {
    return this.#run.now
  }
  get random(): Run['random'] {
    return this.#run.random
  }
  get uuid(): Run['uuid'] {
    return this.#run.uuid
  }
  get memory(): Run['memory'] {
    return this.#run.memory
  }
  get emit(): Run['emit'] {
    return this.#run.emit
  }
  get token(): Run['token'] {
    return this.#run.token
  }
}
