import { type DestinationStream, type Logger, pino } from 'pino'

/** One JSON object per line on the standard error. Neither payloads nor queries nor ids of users are ever in it (P3). */
export const createLog = (
  level: string,
  to: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Logger =>
  pino(
    {
      level,
      base: { name: 'clew' },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describe },
    },
    to,
  )

/** Stack without the message: errors of databases and parsers quote their input. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, stack = '' } = error
  const code: unknown = Reflect.get(error, 'code')
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return {
    type: name,
    ...(typeof code === 'string' && { code }),
    ...(error.name === 'ClewError' && { message: error.message }),
    stack: frames.slice(0, 12).join('\n'),
    ...(error.cause !== undefined && { cause: describe(error.cause) }),
  }
}
