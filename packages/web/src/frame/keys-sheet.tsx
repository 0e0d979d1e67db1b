import type { ReactElement } from 'react'
import { Sheet } from '../parts/sheet.tsx'
import { keysOf, SHORTCUTS, type ShortcutName } from './shortcuts.ts'

const NAMES = Object.keys(SHORTCUTS) as ShortcutName[]
const GROUPS = [...new Set(NAMES.map((name) => SHORTCUTS[name].group))]

export function KeysSheet({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Sheet title="Shortcuts" place="middle" isWide onClose={onClose}>
      <div className="keys">
        {GROUPS.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {NAMES.filter((name) => SHORTCUTS[name].group === group).map((name) => (
                <div key={name}>
                  <dt>{SHORTCUTS[name].about}</dt>
                  <dd>
                    {keysOf(name).map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Sheet>
  )
}
