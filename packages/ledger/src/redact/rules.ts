import { assignmentDetectors, labelledDetectors, xmlDetectors } from './assignments.ts'
import { besideDetectors } from './beside.ts'
import { byteLists, codeBlocks, keyBlocks, passwordBlocks } from './blocks.ts'
import { certainAssignments, certainOutput, certainPasswords, certainSigns } from './certain.ts'
import { callDetectors, keyDetectors } from './calls.ts'
import { commandDetectors, passwordCommands } from './commands.ts'
import type { Group } from './detector.ts'
import { deviceDetectors, deviceSecrets } from './device-config.ts'
import { expectDetectors, fieldDetectors } from './fields.ts'
import { keyObjects } from './key-objects.ts'
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
  { detectors: [...assignmentDetectors, ...certainAssignments] },
  {
    detectors: [
      ...saidDetectors,
      ...passwordTables,
      ...passwordCommands,
      ...nextLineDetectors,
      ...fieldDetectors,
      ...passwordBlocks,
      ...certainPasswords,
      certainOutput,
    ],
    apart: true,
  },
  { detectors: saidInPortuguese, apart: true, needs: /é/ },
  { detectors: [...callDetectors, ...secretTables, ...xmlDetectors], apart: true, needs: /["'`>\n\\]/ },
  { detectors: [...saidCodes, ...codeBlocks, ...deviceSecrets], apart: true, needs: TELLABLE_CODE },
  {
    detectors: [
      ...furtherDetectors,
      ...labelledDetectors,
      ...commandDetectors,
      ...printedDetectors,
      certainOutput,
      ...deviceDetectors,
      ...keyBlocks,
    ],
    apart: true,
  },
  {
    detectors: [
      ...besideDetectors,
      ...certainSigns,
      ...expectDetectors,
      ...keyDetectors,
      ...keyObjects,
      ...byteLists,
    ],
    apart: true,
  },
]
