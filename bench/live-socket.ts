import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'

/**
 * As little of a socket.io client as can join a room and hear: a thousand real ones would need more of the machine than
 * the server that is measured. `hear` gets each packet as text.
 */
export async function openThinClient(
  url: string,
  room: string,
  hear: (packet: string) => void,
): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const say = (packet: string): void => void socket.write(maskedFrame(packet))
  let rest: Buffer = Buffer.alloc(0)
  let isUpgraded = false

  await new Promise<void>((resolve, reject) => {
    const take = (packet: string): void => {
      if (packet === '2') say('3')
      else if (packet.startsWith('0')) say('40')
      else if (packet.startsWith('40')) say(`420["join",${JSON.stringify(room)}]`)
      else if (packet.startsWith('430')) resolve()
      else hear(packet)
    }
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      if (!isUpgraded) {
        const end = rest.indexOf('\r\n\r\n')
        if (end < 0) return
        isUpgraded = true
        rest = rest.subarray(end + 4)
      }
      for (let frame = nextFrame(rest); frame; frame = nextFrame(rest)) {
        rest = rest.subarray(frame.end)
        take(frame.text)
      }
    })
    socket.write(
      `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\n` +
        `Connection: Upgrade\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
  })
}

function nextFrame(bytes: Buffer): { readonly text: string; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined
  const short = (bytes[1] as number) & 127
  const head = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < head) return undefined
  const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  const end = head + size
  return bytes.length < end ? undefined : { text: bytes.toString('latin1', head, end), end }
}

/** What a client says is short, and masked, here with nothing. */
function maskedFrame(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])
}
