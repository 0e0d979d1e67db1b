import { randomInt } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { type Ledger, openLedger } from 'clew'
import { createDesk, createWorld, type World } from '../agent/desk.ts'
import { createDice, type Dice } from '../agent/dice.ts'
import { type Fault, FAULTS, goodOptions, goodTools } from '../agent/faults.ts'
import { HEALTHY } from '../agent/healthy.ts'
import { dumpTokens, findCause, type Found } from '../agent/scripted-client.ts'
import { importForeign } from '../../packages/clew/src/import/import-foreign.ts'
import { type Figure, median } from '../measure.ts'

interface Trial extends Found {
  readonly fault: string
  readonly isFound: boolean
  readonly dump: number
}

const MAX_TOKENS = 4000
const RUN = 'the-run'

/** A broken run in a ledger of its own, and what the client finds. */
async function tryFault(fault: Fault, seed: number, hasSibling: boolean): Promise<Trial> {
  const dice = createDice(seed)
  const made = createWorld(dice)
  const world = fault.world?.(made) ?? made
  const at = dice.between(0, world.items.length - 1)
  const ledger = await openLedger('memory:')
  try {
    await fault.prepare?.(ledger, world, dice)
    if (hasSibling) await goodRun(ledger, world, dice)
    if (fault.live) await fault.live(ledger, RUN, world, dice)
    else await brokenRun(ledger, fault, world, dice, at)
    const injected: string[] = []
    for await (const event of ledger.read(RUN))
      if (fault.isInjected(event, world, at)) injected.push(event.eventId)
    const found = await findCause(ledger, RUN)
    const isFound = found.eventId !== null && found.eventId === injected[0] && found.tokens <= MAX_TOKENS
    return { ...found, fault: fault.name, isFound, dump: await dumpTokens(ledger, RUN) }
  } finally {
    await ledger.close()
  }
}

const inputOf = ({ customer, items }: World) => ({ customer, items: items.map(({ name }) => name) })

async function goodRun(ledger: Ledger, world: World, dice: Dice): Promise<void> {
  const { status, error } = await createDesk(world, goodTools(world), goodOptions(world), dice).start(
    ledger,
    inputOf(world),
  )
  if (status !== 'completed') throw new Error(`the good run is ${status}: ${error?.message ?? ''}`)
}

async function brokenRun(ledger: Ledger, fault: Fault, world: World, dice: Dice, at: number): Promise<void> {
  const tools = { ...goodTools(world), ...fault.tools?.(world, dice, at) }
  const options = { ...goodOptions(world), ...fault.options?.(world, dice) }
  const { status } = await createDesk(world, tools, options, dice).start(ledger, inputOf(world), {
    runId: RUN,
    ...(fault.budget !== undefined && { budget: { tokens: fault.budget } }),
  })
  if (status === 'completed') throw new Error(`the fault ${fault.name} did no harm`)
}

async function falseAlarms(seed: number): Promise<string[]> {
  const alarms: string[] = []
  for (const [at, { name, live }] of HEALTHY.entries()) {
    const dice = createDice(seed + at)
    const ledger = await openLedger('memory:')
    const world = createWorld(dice)
    await goodRun(ledger, world, dice)
    await live(ledger, RUN, world, dice)
    const { eventId } = await findCause(ledger, RUN)
    if (eventId !== null) alarms.push(name)
    await ledger.close()
  }
  return alarms
}

/** Failed trials of a public sample beside a passed trial of the same task: is that one found, and where they part? */
async function onSample(path: string): Promise<{ readonly failed: number; readonly parted: number }> {
  const ledger = await openLedger('memory:')
  await importForeign(ledger, [{ name: path, body: createReadStream(path) }], {
    format: 'openai-chat',
    agent: 'airline',
  })
  const { runs } = await ledger.listRuns({ limit: 1000 })
  let failed = 0
  let parted = 0
  for (const { runId } of runs) {
    const { outcome, lastGood } = await ledger.explain(runId)
    if (outcome?.isGood !== false || lastGood?.matched !== 'task' || failed === 10) continue
    failed++
    const { eventId, tokens } = await findCause(ledger, runId)
    if (lastGood.first && eventId !== null && tokens <= MAX_TOKENS) parted++
  }
  await ledger.close()
  return { failed, parted }
}

export async function agentFigures(): Promise<Figure[]> {
  const fresh = Number(process.env['CLEW_BENCH_SEED'] ?? randomInt(1_000_000_000))
  const table: Record<string, Trial[]> = {}
  for (const [column, seed, hasSibling] of [
    ['fixed, sibling', 7, true],
    ['fresh, sibling', fresh, true],
    ['fixed, alone', 7, false],
    ['fresh, alone', fresh, false],
  ] as const) {
    table[column] = []
    for (const [at, fault] of FAULTS.entries())
      table[column].push(await tryFault(fault, seed + at, hasSibling))
  }
  const columns = Object.entries(table)
  process.stdout.write(
    `\n  seed ${fresh}\n  ${'fault'.padEnd(20)}${columns.map(([name]) => name.padEnd(24)).join('')}\n`,
  )
  for (const [at, { name }] of FAULTS.entries())
    process.stdout.write(
      `  ${name.padEnd(20)}${columns
        .map(([, trials]) => trials[at] as Trial)
        .map(({ isFound, calls, tokens, dump }) =>
          `${isFound ? 'found ' : 'missed'} ${calls} ${tokens}/${dump}`.padEnd(24),
        )
        .join('')}\n`,
    )
  const all = columns.flatMap(([, trials]) => trials)
  const factor = median(all.map(({ dump, tokens }) => dump / tokens))
  const alarms = await falseAlarms(fresh)
  const sample = process.env['CLEW_BENCH_SAMPLE']
  const onReal = sample !== undefined && existsSync(sample) ? await onSample(sample) : null
  return [
    ...columns.map(([name, trials]) => {
      const found = trials.filter(({ isFound }) => isFound).length
      const tokens = trials.map((trial) => trial.tokens)
      return {
        name: `cause found over MCP (${name})`,
        ours: `${found} of ${trials.length}, at most ${Math.max(...trials.map(({ calls }) => calls))} calls and ${Math.max(...tokens)} tokens`,
        beside: `a dump of all events is ${median(trials.map(({ dump }) => dump))} tokens`,
        ratio: found,
        ...(name.includes('sibling') && { least: 14 }),
        unit: 'of 16',
      }
    }),
    {
      name: 'tokens of a dump over tokens of the answers',
      ours: `${factor.toFixed(1)} times`,
      beside: 'runs of about 40 events',
      ratio: factor,
      unit: '×',
    },
    {
      name: 'healthy runs in which something was found',
      ours: `${alarms.length} of ${HEALTHY.length}${alarms.length > 0 ? `: ${alarms.join(', ')}` : ''}`,
      beside: 'none',
      ratio: alarms.length,
      most: 0,
      unit: 'runs',
    },
    ...(onReal
      ? [
          {
            name: 'failed runs of the sample with their passed sibling and the place where they part',
            ours: `${onReal.parted} of ${onReal.failed}`,
            beside: 'the sibling is known',
            ratio: onReal.parted / onReal.failed,
            least: 0.9,
            unit: 'share',
          },
        ]
      : []),
  ]
}
