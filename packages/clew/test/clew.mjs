// The command as it is published, from `dist`, which the int tier builds; `bin/clew.mjs` runs from source in a clone.
const { main } = await import('../dist/main.js')
process.exitCode = await main(process.argv.slice(2))
