import { type Client, runPath } from '@clew/react'

interface Channel {
  readonly name: string
  readonly type: string
  readonly count: number | null
  readonly bytes: number
  readonly version: number
  readonly changed: boolean
}

interface StateAnswer {
  readonly superstep: number
  readonly lastSuperstep: number
  readonly next: readonly string[]
  readonly createdAt: string
  readonly channels: readonly Channel[]
  readonly state: Readonly<Record<string, unknown>> | null
}

export const readState = (
  client: Client,
  runId: string,
  superstep: number | undefined,
  signal: AbortSignal,
): Promise<StateAnswer | null> => client.get(`${runPath(runId)}/state`, { superstep, full: true }, signal)
