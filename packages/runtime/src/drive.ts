type Running = typeof import('./running.ts')
type Verb = {
  [Name in keyof Running]: Running[Name] extends (...given: never[]) => Promise<unknown> ? Name : never
}[keyof Running]

let running: Promise<Running> | undefined

/**
 * What runs agents is loaded when the first one is run: importing Clew, to read a ledger or to define a graph, does not
 * wait for sixty modules that it may never need.
 */
function late<Name extends Verb>(name: Name): Running[Name] {
  const call = async (...given: never[]): Promise<unknown> => {
    running ??= import('./running.ts')
    const verb = (await running)[name] as (...given: never[]) => Promise<unknown>
    return verb(...given)
  }
  return call as Running[Name]
}

export const fork = late('fork')
export const lineage = late('lineage')
export const mapItems = late('mapItems')
export const recordAnswers = late('recordAnswers')
export const recordFork = late('recordFork')
export const replay = late('replay')
export const requestStop = late('requestStop')
export const resumeRun = late('resumeRun')
export const retry = late('retry')
export const runFreely = late('runFreely')
export const searchStates = late('searchStates')
export const startRun = late('startRun')
export const startWorker = late('startWorker')
export const threadStats = late('threadStats')
export const withSecrets = late('withSecrets')
