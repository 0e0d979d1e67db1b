import { openLedger } from 'clew'
import { judge } from './judge.ts'

judge('ClewSaver on memory', () => openLedger('memory:'))
