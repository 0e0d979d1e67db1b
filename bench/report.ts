import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { type Figure, isMet } from './measure.ts'
import { type PeerResults, peerRows } from './scenarios/peers.ts'

export interface Report {
  readonly date: string
  readonly machine: string
  readonly figures: readonly Figure[]
  readonly peers: PeerResults
}

export function describeMachine(): string {
  const [cpu] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${gigabytes} GB, ${process.platform} ${process.arch}, Node ${process.version}`
}

const show = ({ ratio, unit }: Figure): string => (unit ? `${ratio.toFixed(2)} ${unit}` : ratio.toFixed(2))
const promise = ({ least, most, unit = '' }: Figure): string =>
  (least === undefined ? `≤ ${most} ${unit}` : `≥ ${least} ${unit}`).trim()

export function formatTable({ date, machine, figures, peers }: Report): string {
  const rows = figures.map(
    (f) =>
      `| ${f.name} | ${f.ours} | ${f.beside} | ${show(f)} | ${promise(f)} | ${isMet(f) ? 'yes' : '**no**'} |`,
  )
  return [
    `# Figures of ${date}`,
    '',
    machine,
    '',
    'Ratios of one run are to be trusted; absolute figures belong to this machine.',
    '',
    '| what | ours | beside it | ratio | promise | met |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    '![how far each promise is kept](latest.svg)',
    '',
    '## The peers, in the same run',
    '',
    ...peers.leftOut.flatMap((sentence) => [sentence, '']),
    '| peer | what | cost |',
    '|---|---|---|',
    ...peerRows(peers).map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n')
}

const escape = (text: string): string => text.replace(/[<&>]/g, (char) => `&#${char.charCodeAt(0)};`)

/** One bar per promise: how much of what was promised is used up; the line is the promise itself. */
export function formatChart({ date, machine, figures }: Report): string {
  const height = 34
  const bars = figures.map((figure, i) => {
    const used = figure.least === undefined ? figure.ratio / (figure.most ?? 1) : figure.least / figure.ratio
    const width = Math.min(used, 1.45) * 300
    const y = 64 + i * height
    const colour = isMet(figure) ? '#3f7d63' : '#b4502f'
    return `<text x="16" y="${y + 15}">${escape(figure.name)}</text><rect x="400" y="${y + 2}" width="${width.toFixed(0)}" height="18" rx="3" fill="${colour}"/><text x="${(408 + width).toFixed(0)}" y="${y + 15}" class="n">${escape(`${show(figure)} (${promise(figure)})`)}</text>`
  })
  const bottom = 64 + figures.length * height
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="${bottom + 30}" viewBox="0 0 1000 ${bottom + 30}" font-family="system-ui, sans-serif" font-size="13">
<style>text { fill: #24292f } .n { fill: #57606a; font-size: 12px } @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .n { fill: #9aa4af } }</style>
<text x="16" y="24" font-size="16" font-weight="600">Clew: share of each promise used up (shorter is better)</text>
<text x="16" y="44" class="n">${escape(`${date} · ${machine}`)}</text>
${bars.join('\n')}
<line x1="700" y1="56" x2="700" y2="${bottom}" stroke="#8b949e" stroke-dasharray="3 3"/><text x="704" y="${bottom + 16}" class="n">the promise</text>
</svg>
`
}

export function writeReport(report: Report): string {
  const folder = new URL('results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('latest.md', folder), formatTable(report))
  writeFileSync(new URL('latest.svg', folder), formatChart(report))
  writeFileSync(new URL(`${report.date.slice(0, 10)}.json`, folder), `${JSON.stringify(report, null, 2)}\n`)
  return 'bench/results/latest.md'
}
