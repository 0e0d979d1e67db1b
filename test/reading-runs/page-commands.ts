/** The commands of a page and what it says they answer; and the page with other answers put in. */

export interface PageCommand {
  /** As typed, without the prompt. */
  readonly command: string
  readonly output: string
}

const BLOCK = /^```console\n([\s\S]*?)^```$/gm

export function readCommands(page: string): PageCommand[] {
  return [...page.matchAll(BLOCK)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...lines] = part.split('\n')
        return { command, output: lines.join('\n').trimEnd() }
      }),
  )
}

export function writeOutputs(page: string, outputs: readonly string[]): string {
  let next = 0
  return page.replace(BLOCK, (_, block: string) => {
    const parts = block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => `$ ${part.split('\n')[0]}\n${outputs[next++] ?? ''}`.trimEnd())
    return `\`\`\`console\n${parts.join('\n\n')}\n\`\`\``
  })
}

const WHEN = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d+ (?:s|min|h) ago|just now/g

/** What differs from one day or machine to the next: when something was, how long it took us, how wide that is. */
export const normalise = (text: string): string =>
  text
    .replace(WHEN, 'WHEN')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'EVENT-ID')
    .replace(/\bin \d+(?:\.\d+)? m?s\b/g, 'in MOMENTS')
    .replace(/ {2,}/g, '  ')
    .replace(/ +$/gm, '')
