import { answerDetectors, answeredCodes } from './answers.ts'
import { assignmentDetectors, labelledDetectors } from './assignments.ts'
import { besideDetectors } from './beside.ts'
import { byteLists, codeBlocks, keyBlocks, passwordBlocks, setupKeys } from './blocks.ts'
import { certainAssignments } from './certain-assignments.ts'
import { certainPasswords, certainSigns } from './certain.ts'
import { callDetectors, keyDetectors } from './calls.ts'
import { cookieDetectors, setCookies } from './cookies.ts'
import { commandDetectors, passwordCommands } from './commands.ts'
import type { Group } from './detector.ts'
import { deviceDetectors, deviceSecrets } from './device-config.ts'
import { expectDetectors, fieldDetectors } from './fields.ts'
import { keyObjects } from './key-objects.ts'
import { lineAssignments, machineLines, machineTables } from './machine-lines.ts'
import { markedDetectors } from './marked.ts'
import { nextLineDetectors, printedDetectors } from './next-line.ts'
import { configAssignments, configPasswords, configSigns, deviceLabels } from './config-lines.ts'
import { placeDetectors } from './command-places.ts'
import { certainOutput, passwordOutput } from './printed-output.ts'
import { saidCodes, saidDetectors, saidInPortuguese, TELLABLE_CODE } from './said.ts'
import { cardDetector, furtherDetectors, shapedDetectors } from './shaped.ts'
import { passwordColumns, secretColumns } from './table-columns.ts'
import { copied, inserted } from './tables.ts'
import { xmlDetectors } from './xml.ts'

/** On by default (P1). More telling kinds come first: they win when two find the same text. */
export const SECRETS: readonly Group[] = [
  { detectors: markedDetectors },
  { detectors: shapedDetectors },
  { detectors: [cardDetector] },
  {
    detectors: [
      ...assignmentDetectors,
      ...certainAssignments,
      ...configAssignments,
      ...deviceLabels,
      ...lineAssignments,
    ],
  },
  {
    detectors: [
      ...saidDetectors,
      ...passwordColumns,
      ...passwordCommands,
      ...nextLineDetectors,
      ...answerDetectors,
      ...fieldDetectors,
      ...passwordBlocks,
      ...certainPasswords,
      ...configPasswords,
      passwordOutput,
    ],
    apart: true,
  },
  { detectors: saidInPortuguese, apart: true, needs: /é/ },
  {
    detectors: [...callDetectors, ...setCookies, inserted, copied, ...xmlDetectors],
    apart: true,
    needs: /["'`>\n\\]/,
  },
  { detectors: secretColumns, apart: true, needs: /\n|\\n/ },
  {
    detectors: [...saidCodes, ...answeredCodes, ...codeBlocks, ...deviceSecrets],
    apart: true,
    needs: TELLABLE_CODE,
  },
  {
    detectors: [
      ...furtherDetectors,
      ...labelledDetectors,
      ...commandDetectors,
      ...placeDetectors,
      ...printedDetectors,
      certainOutput,
      ...deviceDetectors,
      ...keyBlocks,
      ...machineTables,
    ],
    apart: true,
  },
  {
    detectors: [
      ...besideDetectors,
      ...certainSigns,
      ...cookieDetectors,
      ...configSigns,
      ...machineLines,
      ...expectDetectors,
      ...keyDetectors,
      ...keyObjects,
      ...byteLists,
      ...setupKeys,
    ],
    apart: true,
  },
]
