import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A network between clients and the server that can be bad on demand. Each answers with how many connections it hit. */
export interface Proxy {
  readonly url: string
  /** Nothing passes in either direction for so long; then all of it does. */
  stall(ms: number): number
  /** What clients say still arrives, no answer does, and then the connections are reset: nobody knows what became of it. */
  swallow(ms: number): number
  /** All connections are reset at once, and new ones refused for so long. */
  reset(ms: number): number
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export async function startProxy(serverUrl: string): Promise<Proxy> {
  const target = new URL(serverUrl)
  const pairs = new Set<Pair>()
  let isStalled = false
  let isRefusing = false
  /** Connections whose answers are lost. */
  const mute: Pair[] = []
  let thaw: NodeJS.Timeout | undefined

  const listener = createServer((client) => {
    if (isRefusing) {
      client.resetAndDestroy()
      return
    }
    const server = connect(Number(target.port), target.hostname)
    const pair: Pair = { client, server }
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', end).on('close', end)
    client.pipe(server)
    server.pipe(client)
    if (isStalled) for (const socket of [client, server]) socket.pause()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = new URL(serverUrl)
  address.port = String((listener.address() as AddressInfo).port)

  function resetAll(hit: readonly Pair[]): number {
    for (const pair of hit) {
      pairs.delete(pair)
      for (const socket of [pair.client, pair.server]) socket.resetAndDestroy()
    }
    return hit.length
  }
  function restore(): void {
    clearTimeout(thaw)
    resetAll(mute.splice(0))
    isRefusing = isStalled = false
    for (const { client, server } of pairs) for (const socket of [client, server]) socket.resume()
  }
  function later(ms: number, work: () => void): void {
    clearTimeout(thaw)
    thaw = setTimeout(work, ms)
  }

  return {
    url: address.href,
    stall(ms) {
      restore()
      isStalled = true
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.pause()
      later(ms, restore)
      return pairs.size
    },
    swallow(ms) {
      restore()
      mute.push(...pairs)
      for (const { client, server } of mute) {
        server.unpipe(client)
        server.resume()
      }
      later(ms, restore)
      return mute.length
    },
    reset(ms) {
      restore()
      isRefusing = true
      later(ms, restore)
      return resetAll([...pairs])
    },
    async close() {
      restore()
      resetAll([...pairs])
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
