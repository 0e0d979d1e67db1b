import {
  agent,
  type Agent,
  append,
  command,
  type CompiledGraph,
  END,
  interrupt,
  last,
  Message,
  messages,
  type Run,
  send,
  START,
  StateGraph,
} from 'clew'

/**
 * The agents whose runs are kept in `schema-*`. They are never changed: a history is replayed with the code
 * that made it, by every later version of Clew. For a new feature, add an agent and record it.
 */
let isRecording = false

/** Lets effects reach the world outside while `work` goes on. */
export async function recording<T>(work: () => Promise<T>): Promise<T> {
  isRecording = true
  try {
    return await work()
  } finally {
    isRecording = false
  }
}

/** What the world outside answers, in the order of `afterMs`; on replay nobody may ask it. */
async function outside<T>(answer: T, afterMs = 0): Promise<T> {
  if (!isRecording) throw new Error('a replay reached the world outside')
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  return answer
}

const parallel = agent('parallel', async (run, shops: string[]) => {
  // The last one asked answers first.
  const quotes = await Promise.all(
    shops.map((shop, at) =>
      run.effect('quote', { shop }, () => outside({ shop, price: 7 + at }, 5 * (shops.length - at))),
    ),
  )
  const best = await run.step('best', quotes, (all) => Math.min(...all.map(({ price }) => price)))
  return { best, at: run.now(), lot: run.random(), id: run.uuid() }
})

const race = agent('race', async (run, file: string) => {
  const text = await run.step('fastest', { file }, (_, inner) =>
    Promise.race(
      ['eu', 'us'].map((from) =>
        inner.effect('fetch', { file, from }, () => outside(`${file} from ${from}`, from === 'eu' ? 60 : 1)),
      ),
    ),
  )
  return run.effect('note', { text }, ({ text }) => outside(text.length))
})

let failures = 0
const retried = agent('retried', async (run, files: string[]) => {
  const found = await Promise.all(
    files.map((file) =>
      run.effect(
        'summarise',
        { file },
        async () => {
          const about = await outside(`about ${file}`)
          if (file === 'b.md' && failures++ === 0) throw new Error('overloaded')
          return about
        },
        { key: file, retry: { tries: 3, delayMs: 1 } },
      ),
    ),
  )
  const missing = await run
    .effect('summarise', { file: 'none.md' }, async () => {
      await outside(null)
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    })
    .catch((error: Error) => error.message)
  return [...found, missing]
})

const hotel = agent('hotel', async (run, nights: number) => {
  const room = await run.effect('reserve', { nights }, () => outside(12), { safety: 'write' })
  return { room, nights }
})
const trip = agent('trip', async (run, to: string) => {
  const { room } = await run.child(hotel, 2)
  const rooms = await Promise.all([1, 3].map((nights) => run.child(hotel, nights, { key: `${nights}` })))
  return { to, rooms: [room, ...rooms.map((each) => each.room)] }
})

const publish = agent('publish', async (run, topic: string) => {
  const draft = await run.effect('draft', { topic }, () => outside(`${topic} are awake`))
  const answer = await run.interrupt<string>({ question: 'Publish?', options: ['yes', 'no'] })
  if (answer !== 'yes') return null
  await run.sleep(5)
  const at = run.now()
  const page = await run.effect('publish', { draft }, () => outside('page 1'), { safety: 'write' })
  return { page, at }
})

const crashed = agent('crashed', async (run, pages: number) => {
  const words: string[] = []
  for (let page = 1; page <= pages; page++)
    words.push(await run.effect('read', { page }, ({ page }) => outside(`page ${page}`)))
  return run.step('write', { words }, async ({ words }, inner) => {
    const title = await inner.effect('title', { first: words[0] }, () => outside('Owls'))
    return { title, words: words.length }
  })
})

const failed = agent('failed', async (run, city: string) => {
  const answer = await run.effect('forecast', { city }, () => outside<{ hours?: number[] }>({}))
  return run.step('warmest', answer, ({ hours }) => Math.max(...(hours as number[])))
})

const loop = new StateGraph({ notes: append<string>(), rounds: last(0) })
  .addNode('think', async ({ rounds }, run: Run) => ({
    notes: await run.effect('ask', { rounds }, () => outside(`thought ${rounds}`)),
    rounds: rounds + 1,
  }))
  .addGate('enough', ({ rounds }) => (rounds < 3 ? 'think' : END), ['think', END])
  .addEdge(START, 'think')
  .addEdge('think', 'enough')
  .compile({ name: 'loop' })

const fanOut = new StateGraph({ topics: last<string[]>([]), found: append<string>(), verdict: last('') })
  .addNode('read', async ({ topic }: { topic: string }, run) => ({
    found: await run.effect('look up', { topic }, () => outside(`a page about ${topic}`, topic.length)),
  }))
  .addNode(
    'join',
    ({ found }) => (found.length < 2 ? command({ update: { verdict: 'too little' }, end: true }) : undefined),
    { defer: true },
  )
  .addNode('left', () => ({ found: 'left' }))
  .addNode('right', () => ({ found: 'right' }))
  .addNode('judge', ({ found }) => command({ update: { verdict: `${found.length} pages` }, goto: 'done' }), {
    targets: ['done'],
  })
  .addNode('done', () => undefined)
  .addConditionalEdges(START, ({ topics }) => topics.map((topic) => send('read', { topic })), ['read'])
  .addEdge('read', 'join')
  .addEdge('join', 'left')
  .addEdge('join', 'right')
  .addEdge(['left', 'right'], 'judge')
  .addEdge('done', END)
  .compile({ name: 'fan-out' })

const inner = new StateGraph({ topic: last(''), notes: append<string>() })
  .addNode('look', async ({ topic }, run) => ({
    notes: await run.effect('see', { topic }, () => outside(`seen: ${topic}`)),
  }))
  .addEdge(START, 'look')
  .compile({ name: 'inner' })
const outer = new StateGraph({ topic: last(''), notes: append<string>(), done: last(false) })
  .addNode('research', inner)
  .addNode('finish', () => ({ done: true }))
  .addEdge(START, 'research')
  .addEdge('research', 'finish')
  .addEdge('finish', END)
  .compile({ name: 'outer' })

const letter = new StateGraph({ text: last(''), approved: last(false) })
  .addNode('draft', async (_, run) => ({ text: await run.effect('write', {}, () => outside('Dear owl')) }))
  .addNode('review', async ({ text }) => ({
    approved: await interrupt<boolean>({ question: `Send "${text}"?` }),
  }))
  .addNode('send', () => ({ text: 'sent' }))
  .addEdge(START, 'draft')
  .addEdge('draft', 'review')
  .addConditionalEdges('review', ({ approved }) => approved, { true: 'send', false: END })
  .compile({ name: 'letter', interruptBefore: ['send'] })

const chat = new StateGraph({ messages: messages(), turns: last(0) })
  .addNode('reply', async ({ messages, turns }, run) => ({
    messages: Message.ai(
      await run.effect('model', { said: messages.at(-1)?.content }, () => outside(`answer ${turns}`)),
    ),
    turns: turns + 1,
  }))
  .addEdge(START, 'reply')
  .addEdge('reply', END)
  .compile({ name: 'chat' })

const order = new StateGraph({ price: last(0), paid: last(0) })
  .addNode('quote', () => ({ price: 100 }))
  .addNode('pay', async ({ price }, run) => ({
    paid: await run.effect('transfer', { price }, ({ price }) => outside(price), { safety: 'write' }),
  }))
  .addEdge(START, 'quote')
  .addEdge('quote', 'pay')
  .addEdge('pay', END)
  .compile({ name: 'order', interruptBefore: ['pay'] })

const sizes = agent('sizes', async (run, name: string) => {
  if (name === 'ghost') throw new Error('nothing to measure')
  return run.effect('measure', { name }, ({ name }) => outside(name.length))
})

/** Streams one answer, and asks for two more at once; on replay nobody listens at `url`. */
const taped = agent(
  'taped',
  async (run, url: string) => {
    const response = await fetch(`${url}/words`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-proj-${'x9Y8z7W6'.repeat(4)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ about: 'owls' }),
    })
    const words: string[] = []
    const decoder = new TextDecoder()
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      words.push(decoder.decode(chunk))
      if (words.length === 1) await run.step('first', { word: words[0] }, ({ word }) => word?.length)
    }
    const more = await Promise.all(
      ['a', 'b'].map(async (page) => (await fetch(`${url}/pages/${page}`)).json()),
    )
    return { status: response.status, text: words.join(''), more }
  },
  { recordFetch: true },
)

const tapedGraph = new StateGraph({ url: last(''), pages: append<unknown>() })
  .addNode('read', async ({ url }) => ({ pages: await (await fetch(`${url}/pages/a`)).json() }))
  .addEdge(START, 'read')
  .addEdge('read', END)
  .compile({ name: 'taped-graph', recordFetch: true })

/** In two parts, so that no scanner of repositories reports this file. */
const TOKEN = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')

const redacted = agent('redacted', async (run, topic: string) => {
  const file = await run.effect('read', { topic }, () => outside(`# settings\nGITHUB=${TOKEN}\nTOPIC=${topic}`))
  const lines = await run.step('count', { file }, (given) => given.file.split('\n').length)
  await run.effect('call', { url: `https://example.org/?access_token=${TOKEN}&q=${topic}` }, () => outside('ok'))
  return { file, lines }
})

const redactedGraph = new StateGraph({ notes: append<string>(), count: last(0) })
  .addNode('read', () => ({ notes: [`use ${TOKEN} for it`] }))
  .addNode('count', ({ notes }) => ({ count: notes.length }))
  .addEdge(START, 'read')
  .addEdge('read', 'count')
  .addEdge('count', END)
  .compile({ name: 'redacted-graph' })

export const FUNCTIONS = { parallel, race, retried, hotel, trip, publish, crashed, failed, sizes, taped, redacted }
export const GRAPHS = { loop, fanOut, inner, outer, letter, chat, order, tapedGraph, redactedGraph }

/** By the name that their runs carry. */
export const AGENTS: ReadonlyMap<string, Agent<never> | CompiledGraph> = new Map<
  string,
  Agent<never> | CompiledGraph
>(
  [...Object.values(FUNCTIONS), ...Object.values(GRAPHS)].map((each) => [
    each.program.name,
    each as unknown as Agent<never> | CompiledGraph,
  ]),
)
