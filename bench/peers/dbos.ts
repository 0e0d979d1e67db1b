import { DBOS } from '@dbos-inc/dbos-sdk'
import type { DbosSteps } from '../peers.ts'
import { startPostgres } from './postgres.ts'
import { bestInTurn, inTempFolder, readNumbers, report } from './rounds.ts'

/** A durable function of many trivial steps, and the same again from what was recorded. */

const { steps, rounds } = readNumbers({ steps: 1000, rounds: 3 })

let executed = 0
let replayMs = 0

const count = DBOS.registerWorkflow(
  async (last: number): Promise<number> => {
    const start = performance.now()
    let sum = 0
    for (let at = 0; at < last; at++)
      sum += await DBOS.runStep(
        async () => {
          executed++
          return 1
        },
        { name: 'add' },
      )
    replayMs = performance.now() - start
    return sum
  },
  { name: 'count' },
)

const result = await inTempFolder(async (folder): Promise<DbosSteps> => {
  const postgres = await startPostgres(folder)
  try {
    DBOS.setConfig({ name: 'peer', systemDatabaseUrl: postgres.url, logLevel: 'error' })
    await DBOS.launch()
    const size = async (): Promise<number> => {
      await postgres.query('CHECKPOINT')
      const [row] = await postgres.query('SELECT pg_database_size(current_database())::float8 AS bytes')
      return row?.['bytes'] as number
    }
    const before = await size()
    const best = await bestInTurn(rounds, {
      count: (round) =>
        DBOS.withNextWorkflowID(`round-${round}`, async () => {
          if ((await count(steps)) !== steps) throw new Error('the function lost a step')
        }),
    })
    const after = await size()

    // A fork from the last step finds all others recorded. The time is taken inside: its queue polls once a second.
    let replayed = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds; round++) {
      executed = 0
      const handle = await DBOS.forkWorkflow<number>(`round-${round}`, steps - 1)
      if ((await handle.getResult()) !== steps) throw new Error('the replay lost a step')
      if (executed > 1) throw new Error(`the replay executed ${executed} steps`)
      replayed = Math.min(replayed, replayMs)
    }

    const [settings] = await postgres.query(
      `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
              current_setting('synchronous_commit') AS commit`,
    )
    await DBOS.shutdown()
    return {
      steps,
      rounds,
      msPerStep: best.count / steps,
      replayMsPerStep: replayed / steps,
      bytesPerStep: (after - before) / (steps * (rounds + 1)),
      postgres: `${String(settings?.['version'])}, fsync ${String(settings?.['fsync'])}, synchronous_commit ${String(settings?.['commit'])}`,
    }
  } finally {
    await postgres.stop()
  }
})
report(result)
