export interface Metric {
  readonly name: string
  readonly value: number
}

/** Lines of the Prometheus text format, without their labels. */
export function parseMetrics(text: string): Metric[] {
  const metrics: Metric[] = []
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-zA-Z_:][\w:]*)(?:\{.*\})?\s+(\S+)/.exec(line) ?? []
    if (name !== undefined && value !== undefined && Number.isFinite(Number(value)))
      metrics.push({ name, value: Number(value) })
  }
  return metrics
}

export const totalOf = (metrics: readonly Metric[], name: string): number =>
  metrics.reduce((sum, metric) => (metric.name === name ? sum + metric.value : sum), 0)
