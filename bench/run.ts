import { type Figure, isMet } from './measure.ts'
import { describeMachine, writeReport } from './report.ts'
import { agentFigures } from './scenarios/agent.ts'
import { appendFigures } from './scenarios/append.ts'
import { costFigures } from './scenarios/cost.ts'
import { diffFigures } from './scenarios/diff.ts'
import { eraseFigures } from './scenarios/erase.ts'
import { flatFigures } from './scenarios/flat.ts'
import { foldFigures } from './scenarios/folds.ts'
import { followFigures } from './scenarios/follow.ts'
import { gcFigures } from './scenarios/gc.ts'
import { growingListFigures } from './scenarios/growing-list.ts'
import { ingestFigures } from './scenarios/ingest.ts'
import { langgraphFigures } from './scenarios/langgraph.ts'
import { listingFigures } from './scenarios/listing.ts'
import { liveFigures } from './scenarios/live.ts'
import { memoryFigures } from './scenarios/memory.ts'
import { otlpFigures } from './scenarios/otlp.ts'
import { pageFigures } from './scenarios/page.ts'
import { peerFigures, peerResults } from './scenarios/peers.ts'
import { postgresFigures } from './scenarios/postgres.ts'
import { redactionFigures } from './scenarios/redaction.ts'
import { replayFigures } from './scenarios/replay.ts'
import { runtimeFigures } from './scenarios/runtime.ts'
import { runLogFigures } from './scenarios/run-log.ts'
import { searchFigures } from './scenarios/search.ts'
import { startUpFigures } from './scenarios/start-up.ts'
import { tapeFigures } from './scenarios/tape.ts'
import { transferFigures } from './scenarios/transfer.ts'
import { verifyFigures } from './scenarios/verify.ts'
import { workFigures } from './scenarios/work.ts'

const MILLION = 1_000_000

const SCENARIOS: Readonly<Record<string, () => Promise<Figure[]>>> = {
  transfer: () => transferFigures(MILLION),
  peers: peerFigures,
  agent: agentFigures,
  redaction: redactionFigures,
  append: appendFigures,
  'growing-list': growingListFigures,
  verify: verifyFigures,
  follow: followFigures,
  folds: foldFigures,
  diff: diffFigures,
  cost: costFigures,
  otlp: otlpFigures,
  live: liveFigures,
  ingest: () => ingestFigures(Number(process.env['CLEW_BENCH_RUNS'] ?? MILLION)),
  erase: () => eraseFigures(Number(process.env['CLEW_BENCH_EVENTS'] ?? 100_000)),
  gc: () => gcFigures(Number(process.env['CLEW_BENCH_EVENTS'] ?? 100_000)),
  runtime: runtimeFigures,
  langgraph: langgraphFigures,
  replay: replayFigures,
  postgres: postgresFigures,
  'run-log': runLogFigures,
  tape: tapeFigures,
  'start-up': startUpFigures,
  listing: () => listingFigures(MILLION),
  search: () => searchFigures(MILLION),
  work: workFigures,
  memory: () => memoryFigures(100_000),
  page: () => pageFigures(Number(process.env['CLEW_BENCH_STEPS'] ?? 100_000)),
  flat: () => flatFigures(MILLION),
}

const HELP = `npm run bench [-- scenario …]

Measures Clew beside a floor and its peers in the same run and says which promises are met.
Without names all scenarios run (about 7 minutes) and bench/results/ is written.

Scenarios: ${Object.keys(SCENARIOS).join(', ')}
Example: npm run bench -- append verify
The peers are installed into bench/peers when first needed; CLEW_BENCH_PEERS=0 leaves them out.
`

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(SCENARIOS, name))
if (names.includes('--help') || unknown.length > 0) {
  process.stdout.write(
    unknown.length > 0 && !names.includes('--help')
      ? `There is no scenario ${unknown.join(', ')}.\n\n${HELP}`
      : HELP,
  )
  process.exit(names.includes('--help') ? 0 : 2)
}

const figures: Figure[] = []
for (const [name, measure] of Object.entries(SCENARIOS)) {
  if (names.length > 0 && !names.includes(name)) continue
  process.stdout.write(`${name} …\n`)
  for (const figure of await measure()) {
    figures.push(figure)
    process.stdout.write(
      `  ${isMet(figure) ? '✓' : '✗'} ${figure.name}: ${figure.ours}; ${figure.beside}; ratio ${figure.ratio.toFixed(2)}\n`,
    )
  }
}
if (names.length === 0)
  process.stdout.write(
    `\nwritten: ${writeReport({ date: new Date().toISOString(), machine: describeMachine(), figures, peers: await peerResults() })}\n`,
  )
process.exitCode = figures.every(isMet) ? 0 : 1
