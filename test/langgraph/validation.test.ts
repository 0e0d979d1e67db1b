import { judge } from './judge.ts'

judge('ClewSaver on memory', () => 'memory:')
