import { openLedger } from 'clew'
import { type Figure, median, prose, seconds } from '../measure.ts'

const STEPS = 10_000

type Change = (at: number) => { readonly name: string; readonly input: string }

/** Two runs of 10,000 steps: alike but for one in a hundred, and unlike in every input. */
export async function diffFigures(): Promise<Figure[]> {
  const ledger = await openLedger('memory:')
  const record = async (runId: string, change: Change): Promise<void> => {
    for (let from = 0; from < STEPS; from += 500)
      await ledger.append(
        Array.from({ length: 500 }, (_, i) => {
          const at = from + i
          const { name, input } = change(at)
          const step = { stepId: `${name}#${at}`, attempt: 1 }
          return [
            { eventType: 'execution.step_started', correlationId: runId, payload: { ...step, name, input } },
            {
              eventType: 'execution.step_completed',
              correlationId: runId,
              payload: { ...step, output: prose(200, at % 997) },
            },
          ]
        }).flat(),
      )
  }
  const nameOf = (at: number): string => `node-${at % 7}`
  await record('base', (at) => ({ name: nameOf(at), input: `question ${at}` }))
  await record('near', (at) => ({ name: nameOf(at), input: `question ${at % 100 === 99 ? -at : at}` }))
  await record('far', (at) => ({ name: nameOf(at), input: `another ${at}` }))
  await record('repeated', (at) => ({ name: nameOf(at), input: 'the same' }))
  const figures: Figure[] = []
  for (const [other, about] of [
    ['near', 'one step in a hundred differs'],
    ['far', 'every input differs'],
    ['repeated', 'one input for all'],
  ] as const) {
    const times: number[] = []
    for (let round = 0; round < 5; round++) times.push(await seconds(() => ledger.diff('base', other)))
    const time = median(times)
    figures.push({
      name: `diff of two runs of ${STEPS.toLocaleString('en')} steps, ${about}`,
      ours: `${(time * 1000).toFixed(0)} ms`,
      beside: 'promise 1 s',
      ratio: time,
      most: 1,
      unit: 's',
    })
  }
  await ledger.close()
  return figures
}
