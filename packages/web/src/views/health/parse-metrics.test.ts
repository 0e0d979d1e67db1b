import { describe, expect, it } from 'vitest'
import { parseMetrics, totalOf } from './parse-metrics.ts'

describe('parseMetrics', () => {
  it('U1 adds up a metric over its labels and leaves comments and NaN out', () => {
    const metrics = parseMetrics(
      '# HELP a b\na_total{route="/v1/runs",status="200"} 3\na_total{route="x} y"} 4\nb 1e3\nc NaN\n',
    )
    expect(totalOf(metrics, 'a_total')).toBe(7)
    expect(totalOf(metrics, 'b')).toBe(1000)
    expect(totalOf(metrics, 'c')).toBe(0)
  })
})
