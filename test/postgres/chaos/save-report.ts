import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Writes a report, and below it the notes of every process in `notes`. */
export function saveReport(file: string, report: string, notes: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${report}\n`)
  for (const name of readdirSync(notes).sort())
    appendFileSync(file, `\n== ${name}\n${readFileSync(join(notes, name), 'utf8')}`)
}
