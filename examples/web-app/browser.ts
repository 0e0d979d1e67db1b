import { setTimeout } from 'node:timers/promises'

/** What a browser does with the shop. */

interface Seen {
  readonly seq: number
  readonly what: string
  readonly step?: string
}

interface Shown {
  readonly status: string
  readonly output?: unknown
  readonly question?: string
}

export function createBrowser(url: string) {
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })

  async function waitFor(orderId: string, isIt: (shown: Shown) => boolean): Promise<Shown> {
    for (;;) {
      const answer = await fetch(`${url}/orders/${orderId}?waitMs=10000`)
      if (!answer.ok) throw new Error(`The shop answers ${answer.status}: ${await answer.text()}`)
      const shown = (await answer.json()) as Shown
      if (isIt(shown)) return shown
      // An order that waits for a note or an answer is shown at once.
      await setTimeout(50)
    }
  }

  /** Reads server-sent events until the one that is looked for, or until the order has ended. */
  async function watch(
    orderId: string,
    { lastSeq = 0, until = () => false }: { lastSeq?: number | undefined; until?: (event: Seen) => boolean },
  ): Promise<readonly Seen[]> {
    const closing = new AbortController()
    const headers = { 'last-event-id': `${lastSeq}` }
    const { body } = await fetch(`${url}/orders/${orderId}/live`, { headers, signal: closing.signal })
    const seen: Seen[] = []
    let text = ''
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const messages = `${text}${chunk}`.split('\n\n')
      text = messages.pop() ?? ''
      for (const message of messages) {
        const event = readMessage(message)
        seen.push(event)
        if (!until(event)) continue
        closing.abort()
        return seen
      }
    }
    return seen
  }

  return { post, waitFor, watch }
}

function readMessage(message: string): Seen {
  const fields = Object.fromEntries(
    message.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  return { seq: Number(fields['id']), ...(JSON.parse(fields['data'] ?? '{}') as Omit<Seen, 'seq'>) }
}
