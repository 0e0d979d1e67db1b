import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createRedactor, type Redactor } from '@clew/ledger'
import { agent, openLedger } from 'clew'
import { foreignTexts } from '../foreign-texts.ts'
import { type Figure, inTempFolder, median } from '../measure.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PIECE = 10_000

const create = (): Redactor => createRedactor({}, (secret) => secret.slice(0, 4))

/** The best of three, each with a redactor that has not seen the text: what a noisy neighbour cannot make worse. */
function bestMs(text: string): number {
  const times = Array.from({ length: 3 }, () => {
    const redactor = create()
    const start = performance.now()
    redactor.text(text)
    return performance.now() - start
  })
  return Math.min(...times)
}

/** Text that nobody here wrote, in pieces as a tool would return them: cost, worst piece, and what was taken out. */
function foreignFigures(): Figure[] {
  const figures: Figure[] = []
  const taken = new Map<string, number>()
  let megabytes = 0
  for (const [name, texts] of foreignTexts(join(ROOT, 'node_modules'), PIECE)) {
    for (const { text } of texts.slice(0, 100)) create().text(text)
    const kilobytes = texts.reduce((sum, { text }) => sum + text.length, 0) / 1024
    megabytes += kilobytes / 1024
    let [sum, worst] = [0, 0]
    for (const { file, text } of texts) {
      const ms = bestMs(text)
      sum += ms
      worst = Math.max(worst, ms)
      for (const [found] of create()
        .text(text)
        .matchAll(/.{0,40}\[redacted:[^\]]*\]/g)) {
        const line = `${file}: ${found.trim()}`
        taken.set(line, (taken.get(line) ?? 0) + 1)
      }
    }
    const micros = (sum * 1000) / kilobytes
    figures.push({
      name: `redaction of ${name}`,
      ours: `${micros.toFixed(1)} µs per KB, worst piece of 10 KB ${worst.toFixed(2)} ms`,
      beside: `${(kilobytes / 1024).toFixed(1)} MB of files of the installed packages`,
      ratio: Math.max(micros, worst * 15),
      most: 15,
      unit: 'µs/KB',
    })
  }
  for (const [line, count] of taken) console.log(`  taken out ${count} times: ${line}`)
  const files = new Set(Array.from(taken.keys(), (line) => line.slice(0, line.indexOf(':'))))
  figures.push({
    name: 'files of the installed packages from which something was taken, right or wrong',
    ours: `${files.size} in ${megabytes.toFixed(0)} MB, listed above`,
    beside: 'at most 0.2 wrong ones per MB',
    ratio: files.size / megabytes,
    most: 0.2,
    unit: 'per MB',
  })
  return figures
}

/** What begins and never ends, once and twice as long: what is linear takes twice the time. */
const HOSTILE = [
  'password=',
  'password: "',
  'cookie:a=b;',
  'token ',
  '-----BEGIN PRIVATE KEY-----',
  'eyJ-',
  'card 4 ',
  'bearer a.',
]

function growthFigure(): Figure {
  const ratios = HOSTILE.map((piece) => {
    const text = piece.repeat(400_000 / piece.length)
    return bestMs(text + text) / bestMs(text)
  })
  const ratio = Math.max(...ratios)
  return {
    name: 'redaction of a hostile text twice as long',
    ours: `${ratio.toFixed(2)} times the time, the worst of ${HOSTILE.length}`,
    beside: 'linear is 2',
    ratio,
    most: 2.2,
    unit: 'times',
  }
}

/** A durable step that returns 10 KB of source code, with redaction and without, in turn. */
async function stepFigure(): Promise<Figure> {
  const source = globSync('packages/*/src/**/*.ts', { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
  const page = (n: number): string => source.slice((n * 7919) % (source.length - 10_240)).slice(0, 10_240)
  return inTempFolder(async (folder) => {
    const open = async (name: string, redact: false | undefined) => {
      const ledger = await openLedger(`sqlite:${join(folder, name)}`, redact === false ? { redact } : {})
      const reader = agent('reader', async (run, from: number) => {
        for (let n = 0; n < 100; n++) await run.step('read', from + n, (at) => page(at))
      })
      let made = 0
      const round = async (): Promise<number> => {
        const start = performance.now()
        await reader.start(ledger, (made += 100))
        return (performance.now() - start) / 100
      }
      return { ledger, round }
    }
    const [ours, off] = [await open('on.db', undefined), await open('off.db', false)]
    const times: { on: number[]; off: number[] } = { on: [], off: [] }
    for (let round = 0; round < 12; round++) {
      const on = await ours.round()
      const without = await off.round()
      if (round < 2) continue
      times.on.push(on)
      times.off.push(without)
    }
    await Promise.all([ours.ledger.close(), off.ledger.close()])
    const ratio = median(times.on) / median(times.off)
    return {
      name: 'durable step that returns 10 KB of source code',
      ours: `${median(times.on).toFixed(2)} ms`,
      beside: `${median(times.off).toFixed(2)} ms with redaction off`,
      ratio,
      most: 1.5,
      unit: 'times',
    }
  })
}

/** A thousand messages of which one is new: what was looked at before is not looked at again. */
async function growingFigure(): Promise<Figure> {
  const source = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const ledger = await openLedger('memory:')
  const messages = Array.from({ length: 1000 }, (_, n) => ({
    role: 'user',
    content: `${n} ${source.slice(n * 97, n * 97 + 1000)}`,
  }))
  const times: { ours: number[]; json: number[] } = { ours: [], json: [] }
  for (let n = 0; n < 60; n++) {
    messages.push({ role: 'user', content: `new ${n} ${source.slice(n * 31, n * 31 + 1000)}` })
    const start = performance.now()
    JSON.stringify({ model: 'any', messages })
    const between = performance.now()
    await ledger.record({
      eventType: 'integration.call',
      correlationId: 'chat',
      payload: { model: 'any', messages },
    })
    times.json.push(between - start)
    times.ours.push(performance.now() - between)
  }
  await ledger.close()
  const ratio = median(times.ours) / median(times.json)
  return {
    name: 'event with 1,000 messages of 1 KB, one of them new',
    ours: `${median(times.ours).toFixed(2)} ms`,
    beside: `${median(times.json).toFixed(2)} ms for JSON.stringify`,
    ratio,
    most: 3,
    unit: 'times',
  }
}

/** Runs of real agents, one JSON object a line, from the file that CLEW_BENCH_REAL_RUNS names. */
function realRunFigures(): Figure[] {
  const file = process.env['CLEW_BENCH_REAL_RUNS']
  if (file === undefined || !existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const redactor = create()
  const hits = lines.reduce((sum, line) => sum + redactor.value(JSON.parse(line)).redacted, 0)
  return [
    {
      name: 'replacements in real runs',
      ours: `${hits} in ${lines.length} runs`,
      beside: 'none is right',
      ratio: hits,
      most: 0,
      unit: 'replacements',
    },
  ]
}

export async function redactionFigures(): Promise<Figure[]> {
  const start = performance.now()
  create().text('const password = process.env.PASSWORD ?? "x"')
  const first = performance.now() - start
  return [
    {
      name: 'redaction of the first text',
      ours: `${first.toFixed(1)} ms`,
      beside: 'promise 20 ms',
      ratio: first,
      most: 20,
      unit: 'ms',
    },
    ...foreignFigures(),
    growthFigure(),
    await stepFigure(),
    await growingFigure(),
    ...realRunFigures(),
  ]
}
