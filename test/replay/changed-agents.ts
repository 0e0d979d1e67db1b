import { agent, type Agent, type Run } from '@clew/runtime'

/** Where the code of one version differs from the one that was recorded. */
export type Change =
  | 'none'
  | 'reordered'
  | 'renamed'
  | 'inserted'
  | 'inserted computation'
  | 'removed'
  | 'returns early'
  | 'extra at the end'
  | 'other argument'
  | 'other prompt'
  | 'other model'
  | 'other branch'
  | 'other kind'
  | 'random in a body'
  | 'clock in an argument'
  | 'other result'
  | 'fails'
  | 'other shape'

const later = <T>(value: T) => new Promise<T>((resolve) => void setImmediate(() => resolve(value)))

/** The same work one after the other, or with two of its steps at once; `other shape` is each in the form of the other. */
export function researcher(isParallel: boolean, change: Change = 'none'): Agent<{ topic: string }> {
  const is = (other: Change): boolean => change === other
  return agent('researcher', async (run, { topic }: { topic: string }) => {
    const makePlan = () => ({
      queries: [topic, `more ${topic}`],
      lot: is('random in a body') ? Math.random() : 0,
    })
    const plan = is('other kind')
      ? await run.effect('plan', { topic }, makePlan)
      : await run.step('plan', { topic }, makePlan)
    const q = is('other argument') ? plan.queries[1] : plan.queries[0]
    const search = () =>
      run.effect(
        is('renamed') ? 'look up' : 'search',
        { q, ...(is('clock in an argument') && { at: Date.now() }) },
        () => later(['one', 'two']),
      )
    const read = () => run.effect('read', { page: 1 }, () => later('text'))
    const insert = async () => {
      if (is('inserted')) await run.effect('check', { strict: true }, () => true)
      if (is('inserted computation')) await run.step('think', { deep: true }, () => 'hm')
    }
    let pages: string[]
    let text: string | null = null
    if (isParallel !== is('other shape')) {
      const first = is('reordered')
        ? [read(), search()]
        : [search(), is('removed') ? Promise.resolve(null) : read()]
      await insert()
      const both = await Promise.all(first)
      pages = (is('reordered') ? both[1] : both[0]) as string[]
      text = (is('reordered') ? both[0] : both[1]) as string | null
    } else if (is('reordered')) {
      text = await read()
      pages = await search()
    } else {
      pages = await search()
      if (is('returns early')) return { text: 'nothing' }
      await insert()
      if (!is('removed')) text = await read()
    }
    if (is('returns early')) return { text: 'nothing' }
    return sumUp(run, { pages, text }, change)
  })
}

async function sumUp(
  run: Run,
  given: { pages: string[]; text: string | null },
  change: Change,
): Promise<unknown> {
  const is = (other: Change): boolean => change === other
  const model = is('other model') ? 'small' : 'big'
  const prompt = is('other prompt') ? 'Be brief.' : 'Sum up.'
  const { pages } = given
  const deep = pages.length > (is('other branch') ? 5 : 1)
  const answer = await run.effect(deep ? 'deep' : 'shallow', { pages }, () => later('so'))
  const said = await run.effect('model', { model, prompt }, () => later(`${answer} it is`))
  if (is('fails')) throw new Error('changed its mind')
  if (is('extra at the end')) void run.effect('tell', { said }, () => 1)
  return is('other result') ? { said, more: true } : { said }
}
