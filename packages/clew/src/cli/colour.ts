const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const

export type Style = keyof typeof STYLES
export type Colours = Readonly<Record<Style, (text: string) => string>>

export function createColours(enabled: boolean): Colours {
  const entries = Object.entries(STYLES).map(([name, [on, off]]) => [
    name,
    enabled ? (text: string) => `\x1b[${on}m${text}\x1b[${off}m` : (text: string) => text,
  ])
  return Object.fromEntries(entries) as Colours
}

/** Colour is for people at a terminal who did not say no (https://no-color.org). */
export function wantsColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}
