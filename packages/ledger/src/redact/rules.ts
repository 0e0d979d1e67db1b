import { assignmentDetectors, labelledDetectors, xmlDetectors } from './assignments.ts'
import { besideDetectors, userAndPassword } from './beside.ts'
import { callDetectors, keyDetectors } from './calls.ts'
import { commandDetectors, passwordCommands } from './commands.ts'
import type { Group } from './detector.ts'
import { expectDetectors, fieldDetectors } from './fields.ts'
import { markedDetectors } from './marked.ts'
import { nextLineDetectors, printedDetectors } from './next-line.ts'
import { saidCodes, saidDetectors, saidInPortuguese, TELLABLE_CODE } from './said.ts'
import { cardDetector, furtherDetectors, shapedDetectors } from './shaped.ts'
import { passwordTables, secretTables } from './tables.ts'

/** On by default (P1). More telling kinds come first: they win when two find the same text. */
export const SECRETS: readonly Group[] = [
  { detectors: markedDetectors },
  { detectors: shapedDetectors },
  { detectors: [cardDetector] },
  { detectors: assignmentDetectors },
  {
    detectors: [
      ...saidDetectors,
      ...passwordTables,
      ...passwordCommands,
      ...nextLineDetectors,
      ...fieldDetectors,
    ],
    apart: true,
  },
  { detectors: saidInPortuguese, apart: true, needs: /é/ },
  { detectors: [...callDetectors, ...secretTables, ...xmlDetectors], apart: true, needs: /["'`>\n\\]/ },
  { detectors: saidCodes, apart: true, needs: TELLABLE_CODE },
  {
    detectors: [
      ...furtherDetectors,
      ...labelledDetectors,
      ...commandDetectors,
      ...printedDetectors,
      userAndPassword,
    ],
    apart: true,
  },
  { detectors: [...besideDetectors, ...expectDetectors, ...keyDetectors], apart: true },
]
