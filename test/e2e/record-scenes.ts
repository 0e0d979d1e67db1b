import { recordScenes } from './scenes.ts'

/** `node test/e2e/record-scenes.ts URL [pace]`: the scenes, into a store. */
const [url = 'sqlite:.clew/scenes.db', pace = '100'] = process.argv.slice(2)
await recordScenes(url, Number(pace))
