import type { StepSkeleton } from '@clew/ledger'
import type { ReactElement } from 'react'

const BARS = 24
const HEIGHT = 16

/** Steps in their order, each as high as it took long, on a scale that keeps short ones in sight. */
export function Sparkline({ steps }: { readonly steps: readonly StepSkeleton[] }): ReactElement {
  const bars = toBars(steps)
  const most = Math.max(1, ...bars.map(({ ms }) => Math.log1p(ms)))
  return (
    <svg className="spark" width={BARS * 3} height={HEIGHT} aria-hidden="true">
      {bars.map(({ ms, failed }, index) => {
        const height = Math.max(2, (Math.log1p(ms) / most) * HEIGHT)
        return (
          <rect
            key={index}
            data-failed={failed}
            x={index * 3}
            y={HEIGHT - height}
            width="2"
            height={height}
            rx="0.5"
          />
        )
      })}
    </svg>
  )
}

function toBars(steps: readonly StepSkeleton[]): { ms: number; failed: boolean }[] {
  const per = Math.max(1, Math.ceil(steps.length / BARS))
  return Array.from({ length: Math.min(BARS, Math.ceil(steps.length / per)) }, (_, bar) => {
    const those = steps.slice(bar * per, (bar + 1) * per)
    return {
      ms: those.reduce((sum, step) => sum + (step.durationMs ?? 0), 0),
      failed: those.some(({ status }) => status === 'failed'),
    }
  })
}
