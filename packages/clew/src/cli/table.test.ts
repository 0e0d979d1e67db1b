import { expect, it } from 'vitest'
import { createColours } from './colour.ts'
import { formatTable } from './table.ts'
import { textWidth } from './text.ts'

const columns = [
  { title: 'RUN' },
  { title: 'AGENT', flexible: true },
  { title: 'EVENTS', align: 'right' },
] as const

it('aligns columns, colours and wide characters included', () => {
  const { red } = createColours(true)
  const lines = formatTable(
    columns,
    [
      [red('r1'), '世界', '5'],
      ['run-22', 'b', '1,234'],
    ],
    80,
  )
  expect(lines[0]).toBe('RUN     AGENT  EVENTS')
  expect(lines[2]).toBe('run-22  b       1,234')
  expect(new Set(lines.map(textWidth)).size).toBe(1)
})

it('lets the flexible column give way on a narrow terminal', () => {
  const lines = formatTable(columns, [['r1', 'an agent with quite a long name', '5']], 30)
  for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(30)
  expect(lines[1]).toContain('…')
})
